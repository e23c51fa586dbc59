"""A crash before and after every AWS call of the scanner and the worker."""

from __future__ import annotations

from datetime import timedelta

import pytest
from duecourse.domain.time.instant import from_text

from tests.support.stack_client import StackClient

CALLS = [
    ("scanner", "dynamodb.GetItem", 1),
    ("scanner", "dynamodb.Query", 1),
    ("scanner", "dynamodb.Query", 22),
    ("scanner", "sqs.SendMessageBatch", 1),
    ("scanner", "dynamodb.PutItem", 1),
    ("worker", "dynamodb.GetItem", 1),
    ("worker", "dynamodb.UpdateItem", 1),
    ("worker", "channel.send", 1),
    ("worker", "dynamodb.PutItem", 1),
]
# The message is sent and not yet recorded: only here may it be sent twice.
BETWEEN_SEND_AND_RECORD = {
    ("worker", "channel.send", "after"),
    ("worker", "dynamodb.PutItem", "before"),
}
LEASE_AND_SWEEP = "12m"
MILLISECOND = timedelta(milliseconds=1)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(("function", "call", "nth"), CALLS)
def test_a_reminder_survives_a_crash(
    client: StackClient, function: str, call: str, nth: int, when: str
) -> None:
    task = client.create(due_at="2026-02-17T12:05:00Z")
    client.advance("2m")
    client.add_fault(function=function, call=call, nth=nth, when=when, kind="crash")

    client.advance("3m")
    client.advance(LEASE_AND_SWEEP)

    is_doubled = (function, call, when) in BETWEEN_SEND_AND_RECORD
    after = client.task(task["id"])
    assert after["status"] == "delivered"
    assert len(client.outbox()) == (2 if is_doubled else 1)
    _assert_runs_match(client, task["id"], is_doubled=is_doubled)
    late = from_text(after["delivered_at"]) - from_text(task["due_at"])
    assert client.call("GET", "/stats").body["lateness"]["max"] == late / MILLISECOND


def _assert_runs_match(client: StackClient, task_id: str, *, is_doubled: bool) -> None:
    *earlier, last = client.items(f"/tasks/{task_id}/runs")
    assert (last["status"], last["mutation"]["status"]) == ("committed", "applied")
    for run in earlier:
        assert (run["status"], run["mutation"]["status"]) == ("crashed", "indeterminate")
        assert (last["retry_of"], last["reason"]) == (run["id"], "crashed_recovery")
        assert last["mutation"]["key"] == run["mutation"]["key"]
    assert earlier or not is_doubled


@pytest.mark.parametrize("call", ["dynamodb.GetItem", "dynamodb.Query", "dynamodb.PutItem"])
def test_a_failed_scan_makes_no_reminder_late(client: StackClient, call: str) -> None:
    client.create(due_at="2026-02-17T12:05:00Z")
    client.advance("2m")
    client.add_fault(function="scanner", call=call, kind="crash")

    client.advance("4m")

    assert [sent["at"] for sent in client.outbox()] == ["2026-02-17T12:05:00.000Z"]


def test_the_list_of_scanner_and_worker_calls_is_complete(client: StackClient) -> None:
    client.create(due_at="2026-02-17T12:05:00Z")
    client.advance("10m")

    recorded = {pair for pair in client.stack.calls.counts if pair[0] in ("scanner", "worker")}
    assert recorded == {(function, call) for function, call, _ in CALLS}


@pytest.mark.parametrize(
    ("call", "when", "status"),
    [
        ("dynamodb.PutItem", "before", 201),
        ("dynamodb.PutItem", "after", 200),
        ("sqs.SendMessageBatch", "before", 200),
        ("sqs.SendMessageBatch", "after", 200),
    ],
)
def test_a_crashed_create_can_be_repeated(
    client: StackClient, call: str, when: str, status: int
) -> None:
    body = {"in": "10s", "description": "stretch", "sender_id": "ada"}
    client.add_fault(function="api", call=call, when=when)

    first = client.call("POST", "/tasks", body, headers={"idempotency-key": "k1"})
    again = client.call("POST", "/tasks", body, headers={"idempotency-key": "k1"})
    client.advance("15m")

    assert (first.status, again.status) == (500, status)
    assert len(client.outbox()) == 1


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_series_survives_a_crash_while_its_next_message_is_sent(
    client: StackClient, when: str
) -> None:
    task = client.create(repeat="* * * * *")
    client.add_fault(function="worker", call="sqs.SendMessageBatch", when=when)

    client.advance("20m")

    runs = client.items(f"/tasks/{task['id']}/runs")
    assert len({run["nominal_at"] for run in runs}) == len(client.outbox()) == len(runs)
    assert client.outbox()[-1]["at"] == "2026-02-17T12:20:00.000Z"


@pytest.mark.parametrize("when", ["before", "after"])
def test_history_survives_a_crash_of_the_journal(client: StackClient, when: str) -> None:
    client.add_fault(function="journal", call="dynamodb.PutItem", when=when, times=3)
    task = client.create(**{"in": "10s"})

    client.advance("1m")

    events = client.items(f"/tasks/{task['id']}/history")
    assert [event["type"] for event in events] == ["task:created", "task:started", "task:delivered"]


@pytest.mark.parametrize("kind", ["throttle", "timeout", "error"])
@pytest.mark.parametrize("call", ["dynamodb.GetItem", "dynamodb.PutItem"])
def test_an_aws_call_that_fails_once_is_retried(client: StackClient, call: str, kind: str) -> None:
    task = client.create(due_at="2026-02-17T12:05:00Z")
    client.add_fault(function="worker", call=call, kind=kind, when="after")

    client.advance("6m")

    assert client.task(task["id"])["status"] == "delivered"
    assert len(client.outbox()) == 1


def test_a_task_that_crashes_every_worker_fails(client: StackClient) -> None:
    task = client.create(**{"in": "10s"})
    client.add_fault(function="worker", call="channel.send", when="before", times=1000)

    client.advance("1h")

    after = client.task(task["id"])
    assert (after["status"], after["retry_count"]) == ("failed", 3)
    assert [run["status"] for run in client.items(f"/tasks/{task['id']}/runs")] == ["crashed"] * 3


def test_a_channel_error_is_retried_after_two_minutes(client: StackClient) -> None:
    task = client.create(**{"in": "10s"})
    client.add_fault(
        function="worker", call="channel.send", kind="error", error={"message": "flood wait"}
    )

    client.advance("1m")
    waiting = client.task(task["id"])
    client.advance("2m")

    assert (waiting["status"], waiting["retry_count"]) == ("pending", 1)
    assert waiting["last_error"] == "flood wait"
    assert waiting["next_retry_at"] == "2026-02-17T12:02:10.000Z"
    assert client.task(task["id"])["status"] == "delivered"


def test_the_third_failure_is_final(client: StackClient) -> None:
    task = client.create(**{"in": "10s"})
    client.add_fault(function="worker", call="channel.send", kind="error", times=3)

    client.advance("1h")

    after = client.task(task["id"])
    assert (after["status"], after["retry_count"]) == ("failed", 3)
    [notification] = client.outbox()
    assert " after 3 attempts: " in notification["text"]


def test_the_history_of_a_crash_is_in_order(client: StackClient) -> None:
    task = client.create(**{"in": "10s"})
    client.add_fault(function="worker", call="channel.send", when="before", kind="crash")

    client.advance("1h")

    types = [event["type"] for event in client.items(f"/tasks/{task['id']}/history")]
    assert types == [
        *("task:created", "task:started", "task:retry_scheduled"),
        *("task:started", "task:retry_executed", "task:delivered"),
    ]
