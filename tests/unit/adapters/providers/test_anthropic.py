from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from duecourse.adapters.providers.anthropic import AnthropicProvider
from duecourse.adapters.providers.errors import MissingKeyError
from duecourse.adapters.providers.http_provider import HttpProvider

from tests.support.provider_cases import (
    INSTRUCTION,
    KEY,
    a_provider_request,
    categories_of,
    encode_json,
    error_of,
    provider_at,
)
from tests.support.receiver import Receiver

RATE_LIMIT = (
    "rate_limit_error",
    "This request would exceed your organization's rate limit of 50,000 input tokens per minute.",
)
OVERLOADED = ("overloaded_error", "Overloaded")
DOWN = ("api_error", "Internal server error")
TOO_LONG = ("invalid_request_error", "prompt is too long: 212345 tokens > 200000 maximum")
FILTERED = ("invalid_request_error", "Output blocked by content filtering policy")
NO_MONEY = ("invalid_request_error", "Your credit balance is too low to access the Anthropic API.")
BAD_KEY = ("authentication_error", "invalid x-api-key")
TOO_LARGE = ("request_too_large", "Request exceeds the maximum size")
NO_MODEL = ("not_found_error", "model: claude-whale-9")


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


@pytest.fixture
def anthropic(receiver: Receiver) -> HttpProvider:
    return provider_at(receiver, AnthropicProvider, path="")


def message(*blocks: Any, stop: str | None = "end_turn") -> dict[str, Any]:
    return {
        "id": "msg_7",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-4-5-20251001",
        "content": list(blocks),
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {
            "input_tokens": 100,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": 20,
        },
    }


def text(words: Any) -> dict[str, Any]:
    return {"type": "text", "text": words}


def error_body(provider_error: tuple[str, str]) -> bytes:
    kind, words = provider_error
    error = {"type": kind, "message": words}
    return encode_json({"type": "error", "error": error, "request_id": "req_7"})


def test_the_reply_has_the_text_of_the_model(receiver: Receiver, anthropic: HttpProvider) -> None:
    receiver.answer(200, encode_json(message(text("The tide comes in.\nSUCCESS"))))
    reply = anthropic.call(a_provider_request())
    assert reply.text == "The tide comes in.\nSUCCESS"
    assert reply.model == "claude-haiku-4-5-20251001"
    assert reply.cost == 100 * 1 + 20 * 5


def test_the_request_has_the_format_of_the_api(receiver: Receiver, anthropic: HttpProvider) -> None:
    receiver.answer(200, encode_json(message(text("SUCCESS"))))
    anthropic.call(a_provider_request(max_tokens=9, model="claude-sonnet-5"))
    (request,) = receiver.requests
    assert (request.method, request.path) == ("POST", "/v1/messages")
    assert request.headers["x-api-key"] == KEY
    assert request.headers["anthropic-version"] == "2023-06-01"
    assert request.json == {
        "model": "claude-sonnet-5",
        "system": INSTRUCTION,
        "messages": [{"role": "user", "content": "Write three lines about tides."}],
        "max_tokens": 9,
    }


def test_guidance_is_sent(receiver: Receiver, anthropic: HttpProvider) -> None:
    receiver.answer(200, encode_json(message(text("SUCCESS"))))
    anthropic.call(a_provider_request(guidance=("Be brief.",)))
    assert receiver.requests[0].json["messages"][0]["content"].endswith("\n| Be brief.")


def test_only_text_blocks_are_the_reply(receiver: Receiver, anthropic: HttpProvider) -> None:
    thought = {"type": "thinking", "thinking": "hm", "text": "hm"}
    receiver.answer(200, encode_json(message(thought, text("It is\n"), 7, None, text("SUCCESS"))))
    assert anthropic.call(a_provider_request()).text == "It is\nSUCCESS"


def test_without_an_api_key_nothing_is_sent(receiver: Receiver) -> None:
    error = error_of(provider_at(receiver, AnthropicProvider, key=""))
    assert isinstance(error, MissingKeyError)
    assert "anthropic" in str(error)
    assert receiver.connections == 0


def test_a_payload_cannot_set_the_endpoint(anthropic: HttpProvider) -> None:
    with pytest.raises(ValueError, match=r"^endpoint: "):
        anthropic.check({"endpoint": "https://elsewhere.example"})


@pytest.mark.parametrize(
    ("stop", "code"),
    [
        ("refusal", "content_filter"),
        ("max_tokens", "max_tokens"),
        ("model_context_window_exceeded", "context_window_exceeded"),
    ],
)
def test_an_incomplete_response_is_an_error_with_its_cost(
    receiver: Receiver, anthropic: HttpProvider, stop: str, code: str
) -> None:
    receiver.answer(200, encode_json(message(text("It said:\nSUCCESS"), stop=stop)))
    error = error_of(anthropic)
    assert (error.code, error.cost, error.status) == (code, 200, None)
    assert error.model == "claude-haiku-4-5-20251001"


@pytest.mark.parametrize("blocks", [[], [text("")], [text(None)], [{"type": "tool_use"}]])
def test_an_empty_response_is_an_error(
    receiver: Receiver, anthropic: HttpProvider, blocks: list[Any]
) -> None:
    receiver.answer(200, encode_json(message(*blocks)))
    error = error_of(anthropic)
    assert (error.code, error.cost) == ("empty_answer", 200)


INVALID_BODIES = [b"", b"{}", b'{"content": "SUCCESS"}', b'{"content": {}}', b"[1]"]


@pytest.mark.parametrize("body", [*INVALID_BODIES, encode_json(message(text("SUCCESS")))[:-9]])
def test_a_response_of_another_shape_is_invalid(
    receiver: Receiver, anthropic: HttpProvider, body: bytes
) -> None:
    receiver.answer(200, body)
    error = error_of(anthropic)
    assert (error.type, error.code, error.cost) == ("BadAnswer", "bad_answer", None)


def test_an_error_keeps_the_type_of_anthropic(receiver: Receiver, anthropic: HttpProvider) -> None:
    receiver.answer(529, error_body(OVERLOADED))
    error = error_of(anthropic)
    assert (error.type, error.code, error.status) == ("overloaded_error", "overloaded_error", 529)
    assert str(error) == "anthropic answered 529: Overloaded"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "12"}, 12),
        ({"anthropic-ratelimit-requests-reset": "2026-02-17T12:00:30Z"}, 30),
        (
            {
                "anthropic-ratelimit-requests-reset": "2026-02-17T12:09:00Z",
                "anthropic-ratelimit-requests-remaining": "49",
                "anthropic-ratelimit-input-tokens-reset": "2026-02-17T12:00:41Z",
                "anthropic-ratelimit-input-tokens-remaining": "0",
            },
            41,
        ),
        ({"anthropic-ratelimit-tokens-reset": "2026-02-17T11:59:00Z"}, 0),
        ({"anthropic-ratelimit-tokens-reset": "2026-02-17T12:00:30"}, None),
        ({"anthropic-ratelimit-tokens-reset": "at high water"}, None),
    ],
)
def test_retry_after_is_read_from_the_headers(
    receiver: Receiver, anthropic: HttpProvider, headers: dict[str, str], seconds: float | None
) -> None:
    receiver.answer(429, error_body(RATE_LIMIT), headers=headers)
    waits = error_of(anthropic).retry_after
    assert waits == (None if seconds is None else timedelta(seconds=seconds))


def test_errors_do_not_contain_the_api_key(receiver: Receiver, anthropic: HttpProvider) -> None:
    receiver.answer(401, error_body(("authentication_error", f"invalid x-api-key {KEY}")))
    assert KEY not in repr(error_of(anthropic))


CLASSIFIED_ERRORS = [
    (429, RATE_LIMIT, "transient", "rate_limit"),
    (529, OVERLOADED, "transient", "network_timeout"),
    (500, DOWN, "transient", "network_timeout"),
    (400, TOO_LONG, "unknown", "token_limit"),
    (413, TOO_LARGE, "unknown", "token_limit"),
    (400, FILTERED, "unknown", "content_policy"),
    (400, NO_MONEY, "budget_exceeded", "budget_exceeded"),
    (401, BAD_KEY, "unknown", "unknown"),
    (404, NO_MODEL, "unknown", "unknown"),
]


@pytest.mark.parametrize(("status", "provider_error", "agent", "enrichment"), CLASSIFIED_ERRORS)
def test_policies_classify_error_responses(
    receiver: Receiver,
    anthropic: HttpProvider,
    status: int,
    provider_error: tuple[str, str],
    agent: str,
    enrichment: str,
) -> None:
    receiver.answer(status, error_body(provider_error))
    assert categories_of(error_of(anthropic)) == {"agent": agent, "enrichment": enrichment}


@pytest.mark.parametrize(
    ("stop", "enrichment"),
    [
        ("refusal", "content_policy"),
        ("max_tokens", "token_limit"),
        ("model_context_window_exceeded", "token_limit"),
    ],
)
def test_policies_classify_stop_reasons(
    receiver: Receiver, anthropic: HttpProvider, stop: str, enrichment: str
) -> None:
    receiver.answer(200, encode_json(message(text("SUCC"), stop=stop)))
    assert categories_of(error_of(anthropic)) == {"agent": "unknown", "enrichment": enrichment}


@pytest.mark.parametrize("behaviour", ["drop_connection", "drip_body"])
def test_policies_classify_missing_responses(
    receiver: Receiver, anthropic: HttpProvider, behaviour: str
) -> None:
    getattr(receiver, behaviour)()
    error = error_of(anthropic, a_provider_request(seconds=0.2))
    assert categories_of(error) == {"agent": "transient", "enrichment": "network_timeout"}
