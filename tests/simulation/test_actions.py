"""Actions through the whole stack: the request to the provider, and the outcome of its reply."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from duecourse.domain.tasks.outcome_marker import INSTRUCTION
from duecourse.domain.time.instant import from_text

from local.runtime import aws_clients
from tests.support.receiver import Receiver
from tests.support.stack_client import StackClient, running_stack

DUE_AT = "2026-02-17T12:00:10.000Z"
SUCCESS = "Mended the build.\nACTION_OUTCOME: success"
NOT_DONE = "I tried.\nACTION_OUTCOME: failed | no key for the registry"
MODEL = "gpt-5-mini"  # a quarter of a micro-dollar a token in, two out


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """Stand in for the provider's API."""
    with Receiver() as receiver:
        yield receiver


def completion_of(text: str, *, tokens: tuple[int, int] = (1_000, 50), model: str = MODEL) -> bytes:
    """Return a response of OpenAI's chat completions."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}}
    usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
    answer = {"model": model, "choices": [{**choice, "finish_reason": "stop"}], "usage": usage}
    return json.dumps(answer).encode()


def create_action(client: StackClient, receiver: Receiver, **fields: Any) -> dict[str, Any]:
    payload = {"provider": "openai", "endpoint": receiver.url("/v1"), "model": MODEL}
    payload |= fields.pop("payload", {})
    defaults = {"type": "action", "description": "fix the build", "in": "10s"}
    return client.create(**{**defaults, "payload": payload, **fields})


def run_action(client: StackClient, receiver: Receiver, **fields: Any) -> dict[str, Any]:
    """Create the action and return it just after its first run."""
    task = create_action(client, receiver, **fields)
    client.advance("15s")
    return client.task(task["id"])


def runs_of(client: StackClient, task: dict[str, Any]) -> list[dict[str, Any]]:
    return client.items(f"/tasks/{task['id']}/runs")


def sent_texts(client: StackClient) -> list[str]:
    return [sent["text"] for sent in client.outbox("ada")]


def get_budget(client: StackClient, name: str = "llm") -> dict[str, Any]:
    return dict(client.call("GET", f"/budgets/{name}").body)


def prompt_of(receiver: Receiver, nth: int = 0) -> dict[str, str]:
    """Return the content of each message of the nth request, by role."""
    messages = receiver.requests[nth].json["messages"]
    return {message["role"]: message["content"] for message in messages}


# API keys that cannot be read


def break_api_keys(client: StackClient) -> None:
    def put_invalid_secret() -> None:
        secrets = aws_clients.client("secretsmanager")
        secrets.put_secret_value(SecretId="ProviderKeysSecret", SecretString="sk-not-json")

    client.stack.scheduler.call(put_invalid_secret)


@pytest.mark.parametrize(("policy", "end"), [("agent", "blocked"), ("omega", "failed")])
def test_unreadable_api_keys_fail_the_task_and_notify(
    client: StackClient, receiver: Receiver, policy: str, end: str
) -> None:
    """The first half hour of retries is not counted; after that the policy applies."""
    break_api_keys(client)
    task = run_action(client, receiver, policy=policy)
    client.advance("25m")
    waiting = client.task(task["id"])
    assert (waiting["status"], waiting["retry_count"]) == ("pending", 0)
    assert sent_texts(client) == []

    client.advance("12h")
    assert client.task(task["id"])["status"] == end
    assert len(runs_of(client, task)) <= 10
    assert "the secret of the API keys must hold JSON" in sent_texts(client)[-1]
    assert receiver.requests == []
    assert "sk-not-json" not in str([*sent_texts(client), *runs_of(client, task)])


# The request to the provider


def test_the_description_and_the_marker_reach_the_provider(
    client: StackClient, receiver: Receiver
) -> None:
    receiver.answer(200, completion_of(SUCCESS))
    run_action(client, receiver, description="Fix the build.\nMind the Grüße.")
    assert prompt_of(receiver) == {"system": INSTRUCTION, "user": "Fix the build.\nMind the Grüße."}
    assert "`ACTION_OUTCOME: success`" in INSTRUCTION
    assert "`ACTION_OUTCOME: failed | <reason>`" in INSTRUCTION
    [request] = receiver.requests
    assert (request.path, request.json["model"]) == ("/v1/chat/completions", MODEL)


def test_guidance_reaches_the_provider_beside_the_description(
    client: StackClient, receiver: Receiver
) -> None:
    receiver.answer(200, completion_of(NOT_DONE))
    receiver.answer(200, completion_of(SUCCESS))
    task = run_action(client, receiver)
    [guidance] = client.task(task["id"])["guidance"]
    client.advance("10m")
    first, second = prompt_of(receiver), prompt_of(receiver, 1)
    assert first["user"] == "fix the build"
    assert second["user"].startswith("fix the build\n\n")
    assert f"| {guidance}" in second["user"].splitlines()
    assert second["system"] == first["system"]
    assert client.task(task["id"])["description"] == "fix the build"


def test_a_rejection_reason_reaches_the_provider(client: StackClient, receiver: Receiver) -> None:
    receiver.answer(200, completion_of(SUCCESS))
    task = run_action(client, receiver, verify=True)
    client.call("POST", f"/tasks/{task['id']}/reject", {"reason": "the tests are red"})
    client.advance("10m")
    assert "| rejected:\n| > the tests are red\n" in prompt_of(receiver, 1)["user"]
    assert client.task(task["id"])["guidance"][0] == "rejected: the tests are red"


def test_the_same_request_has_the_same_idempotency_key(
    client: StackClient, receiver: Receiver
) -> None:
    """Each attempt contains the error of the one before, so the second differs from the first."""
    receiver.answer(500, b"{}")
    receiver.answer(500, b"{}")
    receiver.answer(200, completion_of(SUCCESS))
    task = run_action(client, receiver, policy="omega")
    client.advance("10m")
    first, second, third = receiver.requests
    [key] = {run["mutation"]["key"] for run in runs_of(client, task)}
    keys = [request.headers["idempotency-key"] for request in receiver.requests]
    assert all(used_key.startswith(f"{key}-") for used_key in keys)
    assert (first.body != second.body, second.body == third.body) == (True, True)
    assert keys[0] != keys[1] == keys[2]


def test_the_last_error_reaches_the_provider(client: StackClient, receiver: Receiver) -> None:
    receiver.answer(200, completion_of(NOT_DONE))
    receiver.answer(200, completion_of(SUCCESS))
    task = run_action(client, receiver, policy="omega")
    client.advance("10m")
    note = f"| The last error was:\n| > {task['last_error']}"
    assert prompt_of(receiver, 1)["user"].endswith(note)


def test_a_verifier_gets_the_task_and_the_report(client: StackClient, receiver: Receiver) -> None:
    receiver.answer(200, completion_of(SUCCESS))
    with Receiver() as verifier_api:
        verifier_api.answer(200, completion_of("It holds.\nACTION_OUTCOME: success"))
        verifier = {"provider": "openai", "endpoint": verifier_api.url("/v1"), "model": MODEL}
        task = run_action(client, receiver, verify=True, payload={"verifier": verifier})
        prompt = prompt_of(verifier_api)
    report = SUCCESS.replace("\n", "\n> ")
    assert prompt["user"] == f"The task:\nfix the build\n\nThe report:\n> {report}"
    assert "Judge whether it was done" in prompt["system"]
    assert task["status"] == "completed"


# The outcome


def test_a_success_completes_the_task_and_notifies(client: StackClient, receiver: Receiver) -> None:
    receiver.answer(200, completion_of(SUCCESS))
    task = run_action(client, receiver)
    assert (task["status"], task["delivered_at"], task["last_error"]) == ("completed", DUE_AT, None)
    [run] = runs_of(client, task)
    assert (run["status"], run["mutation"]["result"]) == ("committed", {"reply": SUCCESS})
    assert sent_texts(client) == ["Done: fix the build\nMended the build."]


def test_a_reported_failure_is_notified_and_retried(
    client: StackClient, receiver: Receiver
) -> None:
    receiver.answer(200, completion_of(NOT_DONE))
    receiver.answer(200, completion_of(SUCCESS))
    task = run_action(client, receiver)
    assert (task["status"], task["retry_count"]) == ("pending", 1)
    assert task["last_error"] == "no key for the registry"
    [text] = sent_texts(client)
    assert text.startswith(f"Task {task['short_id']} (")
    assert ") failed: no key for the registry\nNext retry" in text
    client.advance("10m")
    assert client.task(task["id"])["status"] == "completed"


def test_a_reply_without_an_outcome_marker_is_a_failure(
    client: StackClient, receiver: Receiver
) -> None:
    receiver.answer(200, completion_of("Mended the build."))
    task = run_action(client, receiver)
    assert (task["status"], task["last_error_category"]) == ("pending", "unknown")
    assert task["last_error"] == "the reply does not end with its outcome"


def test_the_third_failure_of_the_omega_policy_is_final(
    client: StackClient, receiver: Receiver
) -> None:
    """Retries are two minutes apart until the count reaches max_retries."""
    receiver.answer(200, completion_of(NOT_DONE))
    task = run_action(client, receiver, policy="omega")
    assert task["next_retry_at"] == "2026-02-17T12:02:10.000Z"
    client.advance("1h")
    after = client.task(task["id"])
    assert (after["status"], after["retry_count"], len(receiver.requests)) == ("failed", 3, 3)
    assert after["last_error"] == "no key for the registry"
    assert " after 3 attempts: no key for the registry\n" in sent_texts(client)[-1]


def test_a_rate_limited_provider_is_retried_after_its_retry_after(
    client: StackClient, receiver: Receiver
) -> None:
    error = {"error": {"message": "Rate limit reached", "type": "requests", "code": "rate_limit"}}
    receiver.answer(429, json.dumps(error).encode(), headers={"Retry-After": "300"})
    receiver.answer(200, completion_of(SUCCESS))
    task = run_action(client, receiver)
    wait = from_text(task["next_retry_at"]) - from_text(DUE_AT)
    assert timedelta(minutes=5) <= wait <= timedelta(minutes=5.5)
    [logged] = client.items(f"/tasks/{task['id']}/errors")
    assert (logged["status"], logged["code"]) == (429, "rate_limit")
    client.advance("10m")
    assert client.task(task["id"])["status"] == "completed"


def test_a_server_error_of_the_provider_is_retried(client: StackClient, receiver: Receiver) -> None:
    receiver.answer(500, b"<html><title>Bad day</title></html>")
    receiver.answer(200, completion_of(SUCCESS))
    task = run_action(client, receiver)
    assert (task["status"], task["last_error_category"]) == ("pending", "transient")
    assert task["last_error"] == "openai answered 500: Bad day"
    client.advance("10m")
    assert client.task(task["id"])["status"] == "completed"


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"choices": []}', b"\xff\xfe", b"[" * 5_000])
def test_a_malformed_response_is_a_failure(
    client: StackClient, receiver: Receiver, body: bytes
) -> None:
    receiver.answer(200, body)
    task = run_action(client, receiver)
    assert (task["status"], task["retry_count"]) == ("pending", 1)
    assert task["last_error"].startswith("openai ")


def test_a_dropped_connection_is_retried(client: StackClient, receiver: Receiver) -> None:
    receiver.drop_connection()
    receiver.answer(200, completion_of(SUCCESS))
    task = run_action(client, receiver)
    client.advance("10m")
    assert client.task(task["id"])["status"] == "completed"
    assert [run["mutation"]["status"] for run in runs_of(client, task)] == ["failed", "applied"]


def test_a_long_reply_keeps_its_end(client: StackClient, receiver: Receiver) -> None:
    receiver.answer(200, completion_of("x" * 50_000 + f"\n{SUCCESS}"))
    [run] = runs_of(client, run_action(client, receiver))
    reply = run["mutation"]["result"]["reply"]
    assert (len(reply), reply.endswith(SUCCESS)) == (2_000, True)


def test_an_api_key_quoted_by_the_provider_is_redacted(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "a-key-without-any-known-shape"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    receiver.answer(401, f'{{"error": {{"message": "Incorrect API key: {key}"}}}}'.encode())
    receiver.answer(200, completion_of(f"I was given {key}.\n{SUCCESS}"))
    with running_stack() as client:
        task = run_action(client, receiver)
        client.call("POST", f"/tasks/{task['id']}/retry")
        client.advance("10m")
        everything_visible = [client.task(task["id"]), *runs_of(client, task), *sent_texts(client)]
        everything_visible += client.items(f"/tasks/{task['id']}/history")
    assert receiver.requests[0].headers["authorization"] == f"Bearer {key}"
    assert "Incorrect API key: [redacted]" in str(everything_visible)
    assert "I was given [redacted]." in str(everything_visible)
    assert key not in str(everything_visible)


# Cost and budget


def test_a_run_has_provider_model_cost_and_duration(
    client: StackClient, receiver: Receiver
) -> None:
    receiver.answer(200, completion_of(SUCCESS, tokens=(1_000, 50), model="gpt-5-mini-2026-01-05"))
    [run] = runs_of(client, run_action(client, receiver))
    call = dict(run["call"])
    milliseconds = call.pop("milliseconds")
    assert isinstance(milliseconds, int)
    assert milliseconds >= 0
    assert call == {"provider": "openai", "model": "gpt-5-mini-2026-01-05", "cost": 350}


@pytest.mark.parametrize("answer", [completion_of(NOT_DONE), completion_of("What?")])
def test_a_failed_run_has_its_cost(client: StackClient, receiver: Receiver, answer: bytes) -> None:
    receiver.answer(200, answer)
    [run] = runs_of(client, run_action(client, receiver))
    assert (run["call"]["provider"], run["call"]["model"], run["call"]["cost"]) == (
        *("openai", MODEL, 350),
    )


def test_a_refused_call_has_no_cost(client: StackClient, receiver: Receiver) -> None:
    receiver.answer(500, b"{}")
    [run] = runs_of(client, run_action(client, receiver))
    assert run["call"]["provider"] == "openai"
    assert "cost" not in run["call"]


@pytest.mark.parametrize("text", [SUCCESS, NOT_DONE, "What?"])
def test_a_budget_is_charged_by_tokens_whatever_the_outcome(
    client: StackClient, receiver: Receiver, text: str
) -> None:
    receiver.answer(200, completion_of(text, tokens=(2_000, 101)))
    run_action(client, receiver, payload={"budget": "llm", "max_cost": 0.5})
    after = get_budget(client)
    assert (after["spend"], after["reserved"], after["calls"]) == (0.000702, 0, 1)


def test_a_fraction_of_a_micro_dollar_is_rounded_up(
    client: StackClient, receiver: Receiver
) -> None:
    receiver.answer(200, completion_of(SUCCESS, tokens=(1, 0)))
    run_action(client, receiver, payload={"budget": "llm"})
    assert get_budget(client)["spend"] == 0.000001


def test_a_refused_call_releases_its_reservation(client: StackClient, receiver: Receiver) -> None:
    receiver.answer(503, b"{}")
    run_action(client, receiver, payload={"budget": "llm", "max_cost": 0.5})
    assert (get_budget(client)["spend"], get_budget(client)["reserved"]) == (0, 0)


def test_a_response_without_token_counts_costs_the_reserved_amount(
    client: StackClient, receiver: Receiver
) -> None:
    answer = json.loads(completion_of(SUCCESS))
    del answer["usage"]
    receiver.answer(200, json.dumps(answer).encode())
    run_action(client, receiver, payload={"budget": "llm", "max_cost": 0.5})
    assert (get_budget(client)["spend"], get_budget(client)["reserved"]) == (0.5, 0)


def test_a_call_above_the_budget_is_not_made(client: StackClient, receiver: Receiver) -> None:
    client.call("PUT", "/budgets/llm", {"limit": 0.1})
    receiver.answer(200, completion_of(SUCCESS))
    task = run_action(client, receiver, payload={"budget": "llm", "max_cost": 0.5})
    assert (task["status"], task["retry_count"], receiver.requests) == ("pending", 0, [])
    [run] = runs_of(client, task)
    assert (run["status"], run["phase"], run["call"]) == ("paused:budget", "preparing", None)
    client.call("PUT", "/budgets/llm", {"limit": 1})
    client.advance("13h")
    assert client.task(task["id"])["status"] == "completed"


def test_a_failure_after_the_call_is_not_charged_twice(
    client: StackClient, receiver: Receiver
) -> None:
    """Only the commit is retried; the provider is not called again."""
    receiver.answer(200, completion_of(SUCCESS))
    client.add_fault(function="worker", call="dynamodb.PutItem", kind="throttle", nth=4, times=8)
    task = run_action(client, receiver, payload={"budget": "llm"})
    client.advance("1h")
    assert client.task(task["id"])["status"] == "completed"
    assert runs_of(client, task)[0]["status"] == "paused:transient"
    assert (len(receiver.requests), get_budget(client)["calls"]) == (1, 1)
