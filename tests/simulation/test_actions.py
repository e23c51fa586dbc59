"""Actions through the whole stack: what the provider is asked, and what becomes of its word."""

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

DUE = "2026-02-17T12:00:10.000Z"
DONE = "Mended the build.\nACTION_OUTCOME: success"
NOT_DONE = "I tried.\nACTION_OUTCOME: failed | no key for the registry"
MODEL = "gpt-5-mini"  # a quarter of a micro-dollar a token in, two out


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """Stands for the provider's API."""
    with Receiver() as receiver:
        yield receiver


def said(text: str, *, tokens: tuple[int, int] = (1_000, 50), model: str = MODEL) -> bytes:
    """An answer of OpenAI's chat completions."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}}
    usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
    answer = {"model": model, "choices": [{**choice, "finish_reason": "stop"}], "usage": usage}
    return json.dumps(answer).encode()


def an_action(client: StackClient, receiver: Receiver, **fields: Any) -> dict[str, Any]:
    payload = {"provider": "openai", "endpoint": receiver.url("/v1"), "model": MODEL}
    payload |= fields.pop("payload", {})
    defaults = {"type": "action", "description": "fix the build", "in": "10s"}
    return client.create(**{**defaults, "payload": payload, **fields})


def ran(client: StackClient, receiver: Receiver, **fields: Any) -> dict[str, Any]:
    """The task, just after its first run."""
    task = an_action(client, receiver, **fields)
    client.advance("15s")
    return client.task(task["id"])


def runs_of(client: StackClient, task: dict[str, Any]) -> list[dict[str, Any]]:
    return client.items(f"/tasks/{task['id']}/runs")


def told(client: StackClient) -> list[str]:
    return [sent["text"] for sent in client.outbox("ada")]


def budget(client: StackClient, name: str = "llm") -> dict[str, Any]:
    return dict(client.call("GET", f"/budgets/{name}").body)


def asked(receiver: Receiver, nth: int = 0) -> dict[str, str]:
    """By role, what the provider was told."""
    messages = receiver.requests[nth].json["messages"]
    return {message["role"]: message["content"] for message in messages}


# Keys that cannot be read


def spoil_the_keys(client: StackClient) -> None:
    def spoil() -> None:
        secrets = aws_clients.client("secretsmanager")
        secrets.put_secret_value(SecretId="ProviderKeysSecret", SecretString="sk-not-json")

    client.stack.scheduler.call(spoil)


@pytest.mark.parametrize(("policy", "end"), [("agent", "blocked"), ("omega", "failed")])
def test_keys_that_nobody_mends_end_in_a_failure_that_is_told(
    client: StackClient, receiver: Receiver, policy: str, end: str
) -> None:
    """Five tries are free, half an hour of them; then they count as the policy has it."""
    spoil_the_keys(client)
    task = ran(client, receiver, policy=policy)
    client.advance("25m")
    waiting = client.task(task["id"])
    assert (waiting["status"], waiting["retry_count"]) == ("pending", 0)
    assert told(client) == []

    client.advance("12h")
    assert client.task(task["id"])["status"] == end
    assert len(runs_of(client, task)) <= 10
    assert "the secret of the API keys must hold JSON" in told(client)[-1]
    assert receiver.requests == []
    assert "sk-not-json" not in str([*told(client), *runs_of(client, task)])


# What the provider is asked


def test_the_description_and_the_marker_reach_the_provider(
    client: StackClient, receiver: Receiver
) -> None:
    receiver.answer(200, said(DONE))
    ran(client, receiver, description="Fix the build.\nMind the Grüße.")
    assert asked(receiver) == {"system": INSTRUCTION, "user": "Fix the build.\nMind the Grüße."}
    assert "`ACTION_OUTCOME: success`" in INSTRUCTION
    assert "`ACTION_OUTCOME: failed | <reason>`" in INSTRUCTION
    [request] = receiver.requests
    assert (request.path, request.json["model"]) == ("/v1/chat/completions", MODEL)


def test_what_was_learnt_reaches_the_provider_beside_the_persons_words(
    client: StackClient, receiver: Receiver
) -> None:
    receiver.answer(200, said(NOT_DONE))
    receiver.answer(200, said(DONE))
    task = ran(client, receiver)
    [guidance] = client.task(task["id"])["guidance"]
    client.advance("10m")
    first, second = asked(receiver), asked(receiver, 1)
    assert first["user"] == "fix the build"
    assert second["user"].startswith("fix the build\n\n")
    assert f"| {guidance}" in second["user"].splitlines()
    assert second["system"] == first["system"]
    assert client.task(task["id"])["description"] == "fix the build"


def test_why_a_person_said_no_reaches_the_provider(client: StackClient, receiver: Receiver) -> None:
    receiver.answer(200, said(DONE))
    task = ran(client, receiver, verify=True)
    client.call("POST", f"/tasks/{task['id']}/reject", {"reason": "the tests are red"})
    client.advance("10m")
    assert "| rejected: the tests are red" in asked(receiver, 1)["user"].splitlines()


def test_the_same_question_is_asked_with_the_same_key(
    client: StackClient, receiver: Receiver
) -> None:
    """The second attempt is told the error of the first, and the third that of the second."""
    receiver.answer(500, b"{}")
    receiver.answer(500, b"{}")
    receiver.answer(200, said(DONE))
    task = ran(client, receiver, policy="omega")
    client.advance("10m")
    first, second, third = receiver.requests
    [key] = {run["mutation"]["key"] for run in runs_of(client, task)}
    keys = [request.headers["idempotency-key"] for request in receiver.requests]
    assert all(asked_with.startswith(f"{key}-") for asked_with in keys)
    assert (first.body != second.body, second.body == third.body) == (True, True)
    assert keys[0] != keys[1] == keys[2]


def test_the_last_error_reaches_the_provider(client: StackClient, receiver: Receiver) -> None:
    receiver.answer(200, said(NOT_DONE))
    receiver.answer(200, said(DONE))
    task = ran(client, receiver, policy="omega")
    client.advance("10m")
    assert f"| The last error was: {task['last_error']}" in asked(receiver, 1)["user"].splitlines()


def test_a_verifier_is_shown_the_task_and_the_report(
    client: StackClient, receiver: Receiver
) -> None:
    receiver.answer(200, said(DONE))
    with Receiver() as second:
        second.answer(200, said("It holds.\nACTION_OUTCOME: success"))
        verifier = {"provider": "openai", "endpoint": second.url("/v1"), "model": MODEL}
        task = ran(client, receiver, verify=True, payload={"verifier": verifier})
        shown = asked(second)
    assert shown["user"] == f"The task:\nfix the build\n\nThe report:\n{DONE}"
    assert "Judge whether it was done" in shown["system"]
    assert task["status"] == "completed"


# How it went


def test_a_success_is_completed_and_told(client: StackClient, receiver: Receiver) -> None:
    receiver.answer(200, said(DONE))
    task = ran(client, receiver)
    assert (task["status"], task["delivered_at"], task["last_error"]) == ("completed", DUE, None)
    [run] = runs_of(client, task)
    assert (run["status"], run["mutation"]["result"]) == ("committed", {"reply": DONE})
    assert told(client) == ["Done: fix the build\nMended the build."]


def test_a_failure_gives_its_reason_and_is_tried_again(
    client: StackClient, receiver: Receiver
) -> None:
    receiver.answer(200, said(NOT_DONE))
    receiver.answer(200, said(DONE))
    task = ran(client, receiver)
    assert (task["status"], task["retry_count"]) == ("pending", 1)
    assert task["last_error"] == "no key for the registry"
    [text] = told(client)
    assert text.startswith(f"Task {task['short_id']} (")
    assert ") failed: no key for the registry. Next try: " in text
    client.advance("10m")
    assert client.task(task["id"])["status"] == "completed"


def test_a_reply_without_an_outcome_is_no_success(client: StackClient, receiver: Receiver) -> None:
    receiver.answer(200, said("Mended the build."))
    task = ran(client, receiver)
    assert (task["status"], task["last_error_category"]) == ("pending", "unknown")
    assert task["last_error"] == "the reply does not end with its outcome"


def test_the_third_failure_of_the_simplest_policy_is_final(
    client: StackClient, receiver: Receiver
) -> None:
    """Two minutes apart, until the count reaches max_retries."""
    receiver.answer(200, said(NOT_DONE))
    task = ran(client, receiver, policy="omega")
    assert task["next_retry_at"] == "2026-02-17T12:02:10.000Z"
    client.advance("1h")
    after = client.task(task["id"])
    assert (after["status"], after["retry_count"], len(receiver.requests)) == ("failed", 3, 3)
    assert after["last_error"] == "no key for the registry"
    assert " failed for good after 3 attempts: no key for the registry." in told(client)[-1]


def test_a_provider_that_has_too_much_to_do_is_asked_when_it_says(
    client: StackClient, receiver: Receiver
) -> None:
    error = {"error": {"message": "Rate limit reached", "type": "requests", "code": "rate_limit"}}
    receiver.answer(429, json.dumps(error).encode(), headers={"Retry-After": "300"})
    receiver.answer(200, said(DONE))
    task = ran(client, receiver)
    wait = from_text(task["next_retry_at"]) - from_text(DUE)
    assert timedelta(minutes=5) <= wait <= timedelta(minutes=5.5)
    [logged] = client.items(f"/tasks/{task['id']}/errors")
    assert (logged["status"], logged["code"]) == (429, "rate_limit")
    client.advance("10m")
    assert client.task(task["id"])["status"] == "completed"


def test_a_provider_that_is_out_of_order_is_asked_again(
    client: StackClient, receiver: Receiver
) -> None:
    receiver.answer(500, b"<html><title>Bad day</title></html>")
    receiver.answer(200, said(DONE))
    task = ran(client, receiver)
    assert (task["status"], task["last_error_category"]) == ("pending", "transient")
    assert task["last_error"] == "openai answered 500: Bad day"
    client.advance("10m")
    assert client.task(task["id"])["status"] == "completed"


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"choices": []}', b"\xff\xfe", b"[" * 5_000])
def test_an_answer_of_another_shape_is_an_error_and_nothing_worse(
    client: StackClient, receiver: Receiver, body: bytes
) -> None:
    receiver.answer(200, body)
    task = ran(client, receiver)
    assert (task["status"], task["retry_count"]) == ("pending", 1)
    assert task["last_error"].startswith("openai ")


def test_a_provider_that_hangs_up_is_asked_again(client: StackClient, receiver: Receiver) -> None:
    receiver.drop_connection()
    receiver.answer(200, said(DONE))
    task = ran(client, receiver)
    client.advance("10m")
    assert client.task(task["id"])["status"] == "completed"
    assert [run["mutation"]["status"] for run in runs_of(client, task)] == ["failed", "applied"]


def test_a_long_reply_is_kept_to_its_end(client: StackClient, receiver: Receiver) -> None:
    receiver.answer(200, said("x" * 50_000 + f"\n{DONE}"))
    [run] = runs_of(client, ran(client, receiver))
    reply = run["mutation"]["result"]["reply"]
    assert (len(reply), reply.endswith(DONE)) == (2_000, True)


def test_a_key_that_a_provider_quotes_is_told_nowhere(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "a-key-without-any-known-shape"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    receiver.answer(401, f'{{"error": {{"message": "Incorrect API key: {key}"}}}}'.encode())
    receiver.answer(200, said(f"I was given {key}.\n{DONE}"))
    with running_stack() as client:
        task = ran(client, receiver)
        client.advance("10m")
        told_of_it = [client.task(task["id"]), *runs_of(client, task), *told(client)]
        told_of_it += client.items(f"/tasks/{task['id']}/history")
    assert receiver.requests[0].headers["authorization"] == f"Bearer {key}"
    assert "Incorrect API key: [redacted]" in str(told_of_it)
    assert "I was given [redacted]." in str(told_of_it)
    assert key not in str(told_of_it)


# What it took


def test_a_run_tells_whom_it_asked_and_what_that_took(
    client: StackClient, receiver: Receiver
) -> None:
    receiver.answer(200, said(DONE, tokens=(1_000, 50), model="gpt-5-mini-2026-01-05"))
    [run] = runs_of(client, ran(client, receiver))
    call = dict(run["call"])
    milliseconds = call.pop("milliseconds")
    assert isinstance(milliseconds, int)
    assert milliseconds >= 0
    assert call == {"provider": "openai", "model": "gpt-5-mini-2026-01-05", "cost": 350}


@pytest.mark.parametrize("answer", [said(NOT_DONE), said("What?")])
def test_a_run_that_failed_tells_what_it_took_too(
    client: StackClient, receiver: Receiver, answer: bytes
) -> None:
    receiver.answer(200, answer)
    [run] = runs_of(client, ran(client, receiver))
    assert (run["call"]["provider"], run["call"]["model"], run["call"]["cost"]) == (
        *("openai", MODEL, 350),
    )


def test_a_refusal_has_no_cost(client: StackClient, receiver: Receiver) -> None:
    receiver.answer(500, b"{}")
    [run] = runs_of(client, ran(client, receiver))
    assert run["call"]["provider"] == "openai"
    assert "cost" not in run["call"]


@pytest.mark.parametrize("text", [DONE, NOT_DONE, "What?"])
def test_a_budget_is_charged_by_the_tokens_however_it_went(
    client: StackClient, receiver: Receiver, text: str
) -> None:
    receiver.answer(200, said(text, tokens=(2_000, 101)))
    ran(client, receiver, payload={"budget": "llm", "max_cost": 0.5})
    after = budget(client)
    assert (after["spend"], after["reserved"], after["calls"]) == (0.000702, 0, 1)


def test_what_costs_a_part_of_a_micro_dollar_is_rounded_up(
    client: StackClient, receiver: Receiver
) -> None:
    receiver.answer(200, said(DONE, tokens=(1, 0)))
    ran(client, receiver, payload={"budget": "llm"})
    assert budget(client)["spend"] == 0.000001


def test_a_refusal_gives_the_money_back(client: StackClient, receiver: Receiver) -> None:
    receiver.answer(503, b"{}")
    ran(client, receiver, payload={"budget": "llm", "max_cost": 0.5})
    assert (budget(client)["spend"], budget(client)["reserved"]) == (0, 0)


def test_an_answer_that_counts_no_tokens_costs_what_was_held(
    client: StackClient, receiver: Receiver
) -> None:
    answer = json.loads(said(DONE))
    del answer["usage"]
    receiver.answer(200, json.dumps(answer).encode())
    ran(client, receiver, payload={"budget": "llm", "max_cost": 0.5})
    assert (budget(client)["spend"], budget(client)["reserved"]) == (0.5, 0)


def test_a_call_that_its_budget_cannot_pay_for_is_not_made(
    client: StackClient, receiver: Receiver
) -> None:
    client.call("PUT", "/budgets/llm", {"limit": 0.1})
    receiver.answer(200, said(DONE))
    task = ran(client, receiver, payload={"budget": "llm", "max_cost": 0.5})
    assert (task["status"], task["retry_count"], receiver.requests) == ("pending", 0, [])
    [run] = runs_of(client, task)
    assert (run["status"], run["phase"], run["call"]) == ("paused:budget", "preparing", None)
    client.call("PUT", "/budgets/llm", {"limit": 1})
    client.advance("13h")
    assert client.task(task["id"])["status"] == "completed"


def test_a_failure_after_the_call_is_not_charged_twice(
    client: StackClient, receiver: Receiver
) -> None:
    """The commit is tried again, and nobody is asked for it."""
    receiver.answer(200, said(DONE))
    client.add_fault(function="worker", call="dynamodb.PutItem", kind="throttle", nth=4, times=8)
    task = ran(client, receiver, payload={"budget": "llm"})
    client.advance("1h")
    assert client.task(task["id"])["status"] == "completed"
    assert runs_of(client, task)[0]["status"] == "paused:transient"
    assert (len(receiver.requests), budget(client)["calls"]) == (1, 1)
