"""The journal function: each change is journaled, counted and notified once, whatever fails."""

from __future__ import annotations

from typing import Any

import pytest
from duecourse.app import queues, stores
from moto.dynamodb.models import dynamodb_backends

from local.runtime.template import ACCOUNT, REGION
from tests.support.stack_client import StackClient

VALIDATION_ERROR = {"code": "ValidationException", "status": 400}
UNAVAILABLE = {"message": "503 Service Unavailable"}


def tables() -> dict[str, Any]:
    all_tables: dict[str, Any] = dynamodb_backends[ACCOUNT][REGION].tables
    return all_tables


def run_failing_and_fine_reminder(client: StackClient) -> tuple[str, str]:
    client.add_fault(function="worker", call="channel.send", kind="error", error=UNAVAILABLE)
    failing = client.create(**{"in": "10s"})["id"]
    client.advance("20s")
    fine = client.create(**{"in": "10s"})["id"]
    client.advance("1h")
    return failing, fine


def read_counts(client: StackClient) -> tuple[int, int, int]:
    """Return the number of failures, recoveries and successes."""
    stats = client.call("GET", "/stats").body
    [rate] = stats["recovery_rate"]
    [errors] = stats["errors_by_category"]
    assert errors["count"] == rate["failures"]
    return rate["failures"], rate["recovered"], stats["lateness"]["count"]


def read_totals(client: StackClient) -> tuple[int, int, int]:
    """Return the same numbers, where there may be none."""
    stats = client.call("GET", "/stats").body
    failures = sum(one["count"] for one in stats["errors_by_category"])
    recoveries = sum(stats["retries_to_success"]["histogram"].values())
    return failures, recoveries, stats["lateness"]["count"]


def reset_and_collect_records(client: StackClient) -> list[dict[str, Any]]:
    """Return all stream records so far as one batch, and delete what was derived from them."""
    queues.notification_queue.cache_clear()
    stores.counters.cache_clear()
    stores.patterns.cache_clear()
    for table in ("JournalTable", "StatsTable"):
        tables()[table].items.clear()
    assert client.call("GET", "/stats").body["lateness"]["count"] == 0
    return list(client.stack.backend.stream_records("TasksTable"))


def sequence_numbers(records: list[dict[str, Any]]) -> list[str]:
    return [record["dynamodb"]["SequenceNumber"] for record in records]


def failed_ids(reply: dict[str, Any]) -> list[str]:
    return [record["itemIdentifier"] for record in reply["batchItemFailures"]]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    "call",
    ["dynamodb.BatchWriteItem", "dynamodb.PutItem", "dynamodb.Query", "sqs.SendMessageBatch"],
)
@pytest.mark.parametrize("nth", [1, 2])
@pytest.mark.fault_may_miss
def test_every_run_is_counted_once_whichever_call_crashes(
    client: StackClient, call: str, when: str, nth: int
) -> None:
    client.add_fault(function="journal", call=call, when=when, nth=nth, kind="crash")
    failing, _ = run_failing_and_fine_reminder(client)
    assert read_counts(client) == (1, 1, 2)
    assert len(client.items(f"/tasks/{failing}/errors")) == 1
    assert [event["type"] for event in client.items(f"/tasks/{failing}/history")] == [
        *("task:created", "task:started", "task:retry_scheduled"),
        *("task:started", "task:retry_executed", "task:delivered"),
    ]


def test_a_batch_is_retried_from_the_first_record_that_could_not_be_stored(
    client: StackClient,
) -> None:
    run_failing_and_fine_reminder(client)
    records = reset_and_collect_records(client)
    client.add_fault(function="journal", call="dynamodb.BatchWriteItem", kind="throttle", times=99)
    assert failed_ids(client.stack.invoke("journal", {"Records": records})) == [
        sequence_numbers(records)[0]
    ]
    client.call("DELETE", "/_local/faults")
    assert failed_ids(client.stack.invoke("journal", {"Records": records})) == []
    assert read_counts(client) == (1, 1, 2)


def test_a_record_that_fails_each_time_is_set_aside_and_the_others_go_on(
    client: StackClient,
) -> None:
    failing, fine = run_failing_and_fine_reminder(client)
    records = reset_and_collect_records(client)
    # DynamoDB rejects the request for all, then for the one change that causes it.
    client.add_fault(
        function="journal",
        call="dynamodb.BatchWriteItem",
        kind="error",
        error=VALIDATION_ERROR,
        times=2,
    )
    assert failed_ids(client.stack.invoke("journal", {"Records": records})) == []
    failures, recoveries, successes = read_totals(client)
    assert (failures, recoveries, successes) == (0, 1, 2)
    assert [event["type"] for event in client.items(f"/tasks/{fine}/history")][-1] == (
        "task:delivered"
    )
    client.advance("1s")
    [letter] = client.items("/dead-letters")
    assert (letter["queue"], letter["task_id"]) == ("journal", failing)


def test_a_poisoned_record_that_cannot_be_set_aside_is_retried(client: StackClient) -> None:
    run_failing_and_fine_reminder(client)
    records = reset_and_collect_records(client)
    poison = {"call": "dynamodb.BatchWriteItem", "kind": "error", "error": VALIDATION_ERROR}
    client.add_fault(function="journal", **poison, times=9)
    client.add_fault(function="journal", call="sqs.SendMessage", kind="throttle", times=9)
    [first_failed] = failed_ids(client.stack.invoke("journal", {"Records": records}))
    client.call("DELETE", "/_local/faults")
    rest = records[sequence_numbers(records).index(first_failed) :]
    assert failed_ids(client.stack.invoke("journal", {"Records": rest})) == []
    assert read_counts(client) == (1, 1, 2)


def test_nobody_is_notified_before_the_change_is_counted(client: StackClient) -> None:
    script = [{"error": UNAVAILABLE}]
    action = {"type": "action", "payload": {"provider": "scripted", "script": script}}
    client.create(**action, sender_id="ada", reply_target="ada", **{"in": "10s"})
    client.advance("20s")
    message_count = len(client.outbox("ada"))
    failures = [
        record
        for record in reset_and_collect_records(client)
        if "next_retry_at" in record["dynamodb"]["NewImage"]
    ]
    for _ in range(3):
        client.add_fault(function="journal", call="dynamodb.PutItem", kind="throttle", times=9)
        assert len(failed_ids(client.stack.invoke("journal", {"Records": failures}))) == 1
        client.call("DELETE", "/_local/faults")
        client.advance("1s")
        assert len(client.outbox("ada")) == message_count

    for _ in range(2):
        assert failed_ids(client.stack.invoke("journal", {"Records": failures})) == []
        client.advance("1s")
        assert len(client.outbox("ada")) == message_count + 1


def test_after_a_reset_a_task_with_the_same_id_is_notified_again(client: StackClient) -> None:
    script = [{"reply": "ACTION_OUTCOME: success"}]
    action = {"type": "action", "payload": {"provider": "scripted", "script": script}}
    request = {**action, "description": "tidy up", "in": "10s", "channel": "console"}
    request |= {"sender_id": "ada", "reply_target": "ada"}
    for _ in range(2):
        assert client.call("POST", "/_local/reset").status == 200
        response = client.call("POST", "/tasks", request, headers={"idempotency-key": "k1"})
        assert response.status == 201
        client.advance("1m")
        assert [record["text"][:4] for record in client.outbox("ada")] == ["Done"]


def test_the_end_of_a_window_has_no_records(client: StackClient) -> None:
    event = {"Records": [], "state": {}, "shardId": "shard-1", "isFinalInvokeForWindow": True}
    assert client.stack.invoke("journal", event) == {"batchItemFailures": [], "state": {}}
