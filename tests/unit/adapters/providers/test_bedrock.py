from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from duecourse.adapters.providers.bedrock import BedrockProvider, bedrock_client
from duecourse.domain.origin import Origin

from tests.support.builders.moments import NOW
from tests.support.fakes.clock import ManualClock
from tests.support.provider_cases import (
    INSTRUCTION,
    a_provider_request,
    categories_of,
    encode_json,
    error_of,
    settings_of,
)
from tests.support.receiver import Receiver

ENDPOINT = "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"
THROTTLED = ("ThrottlingException", "Too many requests, please wait before trying again.")
DOWN = ("InternalServerException", "The system encountered an unexpected error.")
UNAVAILABLE = ("ServiceUnavailableException", "Bedrock is unable to process your request.")
TOO_LONG = ("ValidationException", "Input is too long for requested model.")
DENIED = (
    "AccessDeniedException",
    "User: arn:aws:sts::123456789012:assumed-role/worker is not authorized to perform: "
    "bedrock:InvokeModel",
)
TIMED_OUT = ("ModelTimeoutException", "Model has timed out in processing the request.")


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    with Receiver() as receiver:
        monkeypatch.setenv(ENDPOINT, receiver.url("").removesuffix("/"))
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        yield receiver


@pytest.fixture
def bedrock(receiver: Receiver) -> BedrockProvider:  # noqa: ARG001 - it is in Bedrock's place
    return BedrockProvider(settings_of("bedrock"), bedrock_client, ManualClock(NOW))


def conversation(*blocks: Any, stop: str = "end_turn") -> dict[str, Any]:
    return {
        "metrics": {"latencyMs": 551},
        "output": {"message": {"role": "assistant", "content": list(blocks)}},
        "stopReason": stop,
        "usage": {"inputTokens": 1000, "outputTokens": 500, "totalTokens": 1500},
    }


def answer_error(
    receiver: Receiver, status: int, provider_error: tuple[str, str], **headers: str
) -> None:
    kind, words = provider_error
    named = {"x-amzn-ErrorType": f"{kind}:http://internal.amazon.com/", **headers}
    receiver.answer(status, encode_json({"message": words}), headers=named)


def test_the_reply_has_the_text_of_the_model(receiver: Receiver, bedrock: BedrockProvider) -> None:
    receiver.answer(200, encode_json(conversation({"text": "It is\n"}, {"text": "SUCCESS"})))
    reply = bedrock.call(a_provider_request())
    assert reply.text == "It is\nSUCCESS"
    assert reply.model == "amazon.nova-lite-v1:0"
    assert reply.cost == 1000 * 0.06 + 500 * 0.24


def test_the_request_has_the_format_of_the_api(
    receiver: Receiver, bedrock: BedrockProvider
) -> None:
    receiver.answer(200, encode_json(conversation({"text": "SUCCESS"})))
    bedrock.call(a_provider_request(max_tokens=9, guidance=("Be brief.",)))
    (request,) = receiver.requests
    assert request.path == "/model/amazon.nova-lite-v1%3A0/converse"
    assert request.json["system"] == [{"text": INSTRUCTION}]
    assert request.json["inferenceConfig"] == {"maxTokens": 9}
    (message,) = request.json["messages"]
    assert message["role"] == "user"
    assert message["content"][0]["text"].startswith("Write three lines about tides.\n")


def test_the_model_can_be_an_inference_profile(
    receiver: Receiver, bedrock: BedrockProvider
) -> None:
    receiver.answer(200, encode_json(conversation({"text": "SUCCESS"})))
    reply = bedrock.call(
        a_provider_request(model="global.anthropic.claude-haiku-4-5-20251001-v1:0")
    )
    assert reply.cost == 1000 * 1 + 500 * 5


@pytest.mark.parametrize(
    ("payload", "key"),
    [
        ({"endpoint": "https://elsewhere.example"}, "endpoint"),
        ({"model": "a b"}, "model"),
        ({"timeout": 46}, "timeout"),
        ({"max_tokens": 0}, "max_tokens"),
    ],
)
def test_an_invalid_payload_is_rejected(
    bedrock: BedrockProvider, payload: dict[str, Any], key: str
) -> None:
    with pytest.raises(ValueError, match=rf"^{key}: "):
        bedrock.check(payload)


def test_other_payload_keys_are_ignored(bedrock: BedrockProvider) -> None:
    bedrock.check(
        {"provider": "bedrock", "budget": "b", "verifier": {}, "model": "amazon.nova-pro"}
    )


def test_with_no_time_left_nothing_is_sent(receiver: Receiver, bedrock: BedrockProvider) -> None:
    error = error_of(bedrock, a_provider_request(seconds=0))
    assert (error.code, error.cost, error.origin) == ("ETIMEDOUT", 0, Origin.NOT_ATTEMPTED)
    assert receiver.connections == 0


def test_connecting_and_reading_share_the_remaining_time(receiver: Receiver) -> None:  # noqa: ARG001
    for seconds in (0.5, 4.0, 45.0):
        config = bedrock_client(timedelta(seconds=seconds)).meta.config
        assert config.connect_timeout + config.read_timeout == pytest.approx(seconds)
        assert 0 < config.connect_timeout <= 3


@pytest.mark.parametrize(
    ("stop", "code", "enrichment"),
    [
        ("guardrail_intervened", "content_filter", "content_policy"),
        ("content_filtered", "content_filter", "content_policy"),
        ("max_tokens", "max_tokens", "token_limit"),
        ("model_context_window_exceeded", "context_window_exceeded", "token_limit"),
    ],
)
def test_an_incomplete_response_is_an_error_with_its_cost(
    receiver: Receiver, bedrock: BedrockProvider, stop: str, code: str, enrichment: str
) -> None:
    receiver.answer(200, encode_json(conversation({"text": "It said:\nSUCCESS"}, stop=stop)))
    error = error_of(bedrock)
    assert (error.code, error.cost, error.status) == (code, 180, None)
    assert categories_of(error) == {"agent": "unknown", "enrichment": enrichment}


@pytest.mark.parametrize("blocks", [[], [{"text": " "}], [{"toolUse": {"name": "x"}}]])
def test_an_empty_response_is_an_error(
    receiver: Receiver, bedrock: BedrockProvider, blocks: list[Any]
) -> None:
    receiver.answer(200, encode_json(conversation(*blocks)))
    assert error_of(bedrock).code == "empty_answer"


INVALID_BODIES = [
    b"",
    b"{}",
    b"[1]",
    b'"SUCCESS"',
    b"<html>hello</html>",
    b"\xff\xfe",
    b'{"output": []}',
    b'{"output": {"message": 7}}',
    b'{"output": {"message": {"content": "SUCCESS"}}}',
    encode_json(conversation({"text": "SUCCESS"}))[:-9],
]


@pytest.mark.parametrize("body", INVALID_BODIES)
def test_a_response_of_another_shape_is_invalid(
    receiver: Receiver, bedrock: BedrockProvider, body: bytes
) -> None:
    receiver.answer(200, body)
    error = error_of(bedrock)
    assert (error.type, error.code, error.cost) == ("BadAnswer", "bad_answer", None)
    assert categories_of(error) == {"agent": "transient", "enrichment": "json_parse"}


def test_an_error_keeps_the_type_of_aws_and_is_not_retried(
    receiver: Receiver, bedrock: BedrockProvider
) -> None:
    answer_error(receiver, 429, THROTTLED, **{"Retry-After": "7"})
    error = error_of(bedrock)
    assert (error.type, error.code) == ("ThrottlingException", "ThrottlingException")
    assert (error.status, error.retry_after) == (429, timedelta(seconds=7))
    assert (error.model, error.cost) == ("amazon.nova-lite-v1:0", None)
    assert "Too many requests" in str(error)
    assert len(receiver.requests) == 1


def test_a_dropped_connection_is_not_retried(receiver: Receiver, bedrock: BedrockProvider) -> None:
    receiver.drop_connection()
    error = error_of(bedrock)
    assert (error.type, error.code, error.cost) == ("NoAnswer", "ECONNRESET", None)
    assert len(receiver.requests) == 1


@pytest.mark.parametrize("behaviour", ["never_reply", "drip_headers", "drip_body"])
def test_a_late_response_respects_the_timeout(
    receiver: Receiver, bedrock: BedrockProvider, behaviour: str
) -> None:
    getattr(receiver, behaviour)()
    error = error_of(bedrock, a_provider_request(seconds=0.4))
    assert (error.type, error.code, error.cost) == ("NoAnswer", "ETIMEDOUT", None)
    assert len(receiver.requests) == 1


def test_a_refused_connection_costs_nothing(
    bedrock: BedrockProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Receiver() as closed_receiver:
        monkeypatch.setenv(ENDPOINT, closed_receiver.url("").removesuffix("/"))
    error = error_of(bedrock)
    assert (error.type, error.code, error.cost) == ("NotSent", "ECONNREFUSED", 0)


def test_without_a_region_nothing_is_sent(
    receiver: Receiver, bedrock: BedrockProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    monkeypatch.delenv("AWS_REGION", raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    error = error_of(bedrock)
    assert (error.type, error.cost) == ("NoRegionError", 0)
    assert receiver.connections == 0


CLASSIFIED_ERRORS = [
    (429, THROTTLED, "transient", "rate_limit"),
    (500, DOWN, "transient", "network_timeout"),
    (503, UNAVAILABLE, "transient", "network_timeout"),
    (408, TIMED_OUT, "transient", "network_timeout"),
    (400, TOO_LONG, "unknown", "token_limit"),
    (403, DENIED, "unknown", "unknown"),
]


@pytest.mark.parametrize(("status", "provider_error", "agent", "enrichment"), CLASSIFIED_ERRORS)
def test_policies_classify_error_responses(
    receiver: Receiver,
    bedrock: BedrockProvider,
    status: int,
    provider_error: tuple[str, str],
    agent: str,
    enrichment: str,
) -> None:
    answer_error(receiver, status, provider_error)
    assert categories_of(error_of(bedrock)) == {"agent": agent, "enrichment": enrichment}


@pytest.mark.parametrize("behaviour", ["drop_connection", "never_reply", "drip_body"])
def test_policies_classify_missing_responses(
    receiver: Receiver, bedrock: BedrockProvider, behaviour: str
) -> None:
    getattr(receiver, behaviour)()
    error = error_of(bedrock, a_provider_request(seconds=0.4))
    assert categories_of(error) == {"agent": "transient", "enrichment": "network_timeout"}
