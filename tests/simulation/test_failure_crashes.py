"""A crash before and after every AWS call of the failure and the deadletter function."""

from __future__ import annotations

from typing import Any

import pytest

from local.runtime import aws_clients
from tests.support.stack_client import StackClient

REFUSED = {"error": {"message": "connect ECONNREFUSED 127.0.0.1:5432", "code": "ECONNREFUSED"}}
SUCCESS = {"reply": "ACTION_OUTCOME: success"}
FAILURE_CALLS = [
    ("dynamodb.GetItem", 1),  # the task
    ("dynamodb.GetItem", 2),  # the learned pattern
    ("dynamodb.GetItem", 3),  # its subject
    ("dynamodb.Query", 1),  # the pending retries
    ("dynamodb.TransactWriteItems", 1),  # task, run and subject
    ("sqs.SendMessageBatch", 1),  # the message of the retry
]
DEADLETTER_CALLS = [
    ("dynamodb.GetItem", 1),
    ("dynamodb.PutItem", 1),
    ("sqs.SendMessageBatch", 1),
]
before_and_after = pytest.mark.parametrize("when", ["before", "after"])


def _create_action(client: StackClient, *script: dict[str, Any]) -> str:
    payload = {"provider": "scripted", "script": list(script)}
    task = client.create(
        type="action", policy="agent", subject="s", payload=payload, due_at="2026-02-17T12:05:00Z"
    )
    return str(task["id"])


@before_and_after
@pytest.mark.parametrize(("call", "nth"), FAILURE_CALLS)
def test_a_failure_counts_once_despite_a_crash(
    client: StackClient, call: str, nth: int, when: str
) -> None:
    task_id = _create_action(client, REFUSED, SUCCESS)
    client.add_fault(function="failure", call=call, nth=nth, when=when)

    client.advance("15m")

    task = client.task(task_id)
    runs = client.items(f"/tasks/{task_id}/runs")
    assert (task["status"], task["retry_count"]) == ("completed", 1)
    assert [run["status"] for run in runs] == ["paused:transient", "committed"]
    assert len(client.items(f"/tasks/{task_id}/errors")) == 1
    assert client.call("GET", "/subjects/s").body["status"] == "success"


@pytest.mark.parametrize("second", range(0, 300, 20))
def test_the_sweeper_does_not_overtake_a_late_report(client: StackClient, second: int) -> None:
    """At any time between two sweeps, the worker's report counts and no person is asked."""
    payload = {"provider": "scripted", "script": [REFUSED, SUCCESS]}
    task = client.create(type="action", payload=payload, **{"in": f"{60 + second}s"})
    client.add_fault(function="failure", call="dynamodb.Query", when="before")

    client.advance("20m")

    assert [run["status"] for run in client.items(f"/tasks/{task['id']}/runs")] == [
        "paused:transient",
        "committed",
    ]


@pytest.mark.parametrize("kind", ["throttle", "timeout", "error"])
@pytest.mark.parametrize(("call", "nth"), FAILURE_CALLS)
def test_a_lost_response_counts_no_failure_twice(
    client: StackClient, call: str, nth: int, kind: str
) -> None:
    task_id = _create_action(client, REFUSED, REFUSED, SUCCESS)
    client.add_fault(function="failure", call=call, nth=nth, when="after", kind=kind)

    client.advance("6m")

    subject = client.call("GET", "/subjects/s").body
    assert client.task(task_id)["retry_count"] == subject["failure_count"] == 2


def test_the_list_of_failure_calls_is_complete(client: StackClient) -> None:
    _create_action(client, REFUSED, SUCCESS)
    client.advance("15m")

    counts = client.stack.calls.counts
    recorded = {call: n for (function, call), n in counts.items() if function == "failure"}
    assert set(recorded) == {call for call, _ in FAILURE_CALLS}
    assert recorded["dynamodb.GetItem"] == 3
    assert recorded["dynamodb.Query"] == 1


def _dead_letter_message(client: StackClient, task_id: str) -> None:
    """Dead-letter the task's message, as if Lambda had throttled the worker."""
    client.add_fault(function="worker", call="dynamodb.GetItem", when="before")
    client.advance("5m")
    client.advance("5s")
    sqs = aws_clients.client("sqs")
    url = sqs.get_queue_url(QueueName="WorkDeadLetterQueue")["QueueUrl"]
    due_at = client.task(task_id)["due_at"]
    body = f'{{"task_id": "{task_id}", "due_at": "{due_at}"}}'
    client.stack.scheduler.call(lambda: sqs.send_message(QueueUrl=url, MessageBody=body))


@before_and_after
@pytest.mark.parametrize(("call", "nth"), DEADLETTER_CALLS)
def test_a_dead_lettered_message_counts_no_retry_despite_a_crash(
    client: StackClient, call: str, nth: int, when: str
) -> None:
    task_id = _create_action(client, SUCCESS)
    client.add_fault(function="deadletter", call=call, nth=nth, when=when)
    _dead_letter_message(client, task_id)

    client.advance("15m")

    task = client.task(task_id)
    assert (task["status"], task["retry_count"]) == ("completed", 0)
    assert len(client.items(f"/tasks/{task_id}/runs")) == 1
    history = [event["type"] for event in client.items(f"/tasks/{task_id}/history")]
    assert history.count("task:undelivered") == 1


def test_the_list_of_deadletter_calls_is_complete(client: StackClient) -> None:
    _dead_letter_message(client, _create_action(client, SUCCESS))
    client.advance("15m")

    counts = client.stack.calls.counts
    recorded = {call for function, call in counts if function == "deadletter"}
    assert recorded == {call for call, _ in DEADLETTER_CALLS}


def test_crashes_before_the_claim_count_no_retry(
    client: StackClient,
) -> None:
    task = client.create(**{"in": "10s"})
    client.add_fault(function="worker", call="dynamodb.GetItem", when="before", times=12)

    client.advance("2h")

    after = client.task(task["id"])
    assert (after["status"], after["retry_count"], len(client.outbox())) == ("delivered", 0, 1)


def test_a_dead_lettered_report_is_recorded(client: StackClient) -> None:
    task_id = _create_action(client, REFUSED, SUCCESS)
    client.add_fault(function="failure", call="dynamodb.GetItem", when="before", times=1000)

    client.advance("30m")

    assert client.task(task_id)["retry_count"] == 1
    [error] = client.items(f"/tasks/{task_id}/errors")
    assert (error["category"], error["counted"]) == ("transient", True)


def test_an_unreadable_dead_letter_is_stored_and_can_be_redriven(client: StackClient) -> None:
    sqs = aws_clients.client("sqs")
    url = sqs.get_queue_url(QueueName="WorkDeadLetterQueue")["QueueUrl"]
    client.stack.scheduler.call(lambda: sqs.send_message(QueueUrl=url, MessageBody="gibberish"))
    client.advance("1s")

    [letter] = client.items("/dead-letters")
    assert (letter["queue"], letter["body"]) == ("work", "gibberish")
    redriven = client.call("POST", "/dead-letters/redrive", {"ids": [letter["id"]]}).body
    assert (redriven["redriven"], client.items("/dead-letters")) == ([letter["id"]], [])
    client.advance("1h")
    assert len(client.items("/dead-letters")) == 1, "it died again and was kept again"
