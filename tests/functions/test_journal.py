"""The journal function: failures and recoveries are counted once, even if a batch fails halfway."""

from __future__ import annotations

from typing import Any

import pytest
from duecourse.app import queues
from moto.dynamodb.models import dynamodb_backends

from local.runtime.stream_sources import _to_lambda_record
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


def reset_and_collect_records(client: StackClient) -> list[dict[str, Any]]:
    """Return all stream records so far as one batch, and delete what was derived from them."""
    queues.sent_notification_keys().clear()
    for table in ("JournalTable", "StatsTable"):
        tables()[table].items.clear()
    assert client.call("GET", "/stats").body["lateness"]["count"] == 0
    return [_to_lambda_record(item.to_json()) for item in tables()["TasksTable"].stream_shard.items]


def sequence_numbers(records: list[dict[str, Any]]) -> list[str]:
    return [record["dynamodb"]["SequenceNumber"] for record in records]


def failed_ids(reply: dict[str, Any]) -> list[str]:
    return [record["itemIdentifier"] for record in reply["batchItemFailures"]]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    "call",
    [
        "dynamodb.BatchWriteItem",
        "dynamodb.GetItem",
        "dynamodb.TransactWriteItems",
        "dynamodb.UpdateItem",
    ],
)
@pytest.mark.parametrize("nth", [1, 2])
def test_failures_are_counted_once_whichever_call_crashes(
    client: StackClient, call: str, when: str, nth: int
) -> None:
    client.add_fault(function="journal", call=call, when=when, nth=nth, kind="crash")
    failing, _ = run_failing_and_fine_reminder(client)
    failures, recoveries, successes = read_counts(client)
    assert (failures, recoveries) == (1, 1)
    assert len(client.items(f"/tasks/{failing}/errors")) == 1
    # After a crash at its last call the batch is redelivered: a success may count twice.
    assert successes in ({2, 3} if (call, when) == ("dynamodb.UpdateItem", "after") else {2})


def test_a_failed_change_holds_back_later_changes_of_its_task(
    client: StackClient,
) -> None:
    failing, fine = run_failing_and_fine_reminder(client)
    records = reset_and_collect_records(client)
    client.add_fault(
        function="journal", call="dynamodb.TransactWriteItems", kind="error", error=VALIDATION_ERROR
    )
    reply = client.stack.invoke("journal", {"Records": records})
    failed = failed_ids(reply)
    records_of_failing = [
        record for record in records if record["dynamodb"]["Keys"]["id"]["S"] == failing
    ]
    assert failed == [
        number for number in sequence_numbers(records_of_failing) if number >= failed[0]
    ]
    assert len(failed) > 1
    assert [event["type"] for event in client.items(f"/tasks/{fine}/history")][-1] == (
        "task:delivered"
    )


def test_a_batch_redelivered_from_the_failed_record_counts_everything_once(
    client: StackClient,
) -> None:
    run_failing_and_fine_reminder(client)
    records = reset_and_collect_records(client)
    client.add_fault(
        function="journal", call="dynamodb.TransactWriteItems", kind="error", error=VALIDATION_ERROR
    )
    first_failed = failed_ids(client.stack.invoke("journal", {"Records": records}))[0]
    remaining_records = records[sequence_numbers(records).index(first_failed) :]
    assert failed_ids(client.stack.invoke("journal", {"Records": remaining_records})) == []
    assert read_counts(client) == (1, 1, 2)


def test_nobody_is_notified_again_because_of_another_record(client: StackClient) -> None:
    script = [{"error": UNAVAILABLE}]
    action = {"type": "action", "payload": {"provider": "scripted", "script": script}}
    for person in ("ada", "bob"):
        client.create(**action, sender_id=person, reply_target=person, **{"in": "10s"})
    client.advance("20s")
    message_counts = {person: len(client.outbox(person)) for person in ("ada", "bob")}
    failures = [
        record
        for record in reset_and_collect_records(client)
        if "next_retry_at" in record["dynamodb"]["NewImage"]
    ]
    ada = failures[0]["dynamodb"]["NewImage"]["sender_id"]["S"]
    [bob] = set(message_counts) - {ada}
    for _ in range(3):
        client.add_fault(
            function="journal",
            call="dynamodb.TransactWriteItems",
            kind="error",
            error=VALIDATION_ERROR,
        )
        assert len(failed_ids(client.stack.invoke("journal", {"Records": failures}))) == 1
        client.advance("1s")
    assert (len(client.outbox(ada)), len(client.outbox(bob))) == (
        message_counts[ada],
        message_counts[bob] + 1,
    )

    assert failed_ids(client.stack.invoke("journal", {"Records": failures})) == []
    client.advance("1s")
    assert (len(client.outbox(ada)), len(client.outbox(bob))) == (
        message_counts[ada] + 1,
        message_counts[bob] + 1,
    )


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


def test_failed_counters_do_not_hold_back_history(client: StackClient) -> None:
    """Neither a record nor the whole invocation is retried because of the counters."""
    tasks = run_failing_and_fine_reminder(client)
    records = reset_and_collect_records(client)
    fault = {"call": "dynamodb.UpdateItem", "kind": "error", "error": VALIDATION_ERROR, "times": 9}
    client.add_fault(function="journal", **fault)
    assert failed_ids(client.stack.invoke("journal", {"Records": records})) == []
    assert read_counts(client) == (1, 1, 0)
    for task_id in tasks:
        assert client.items(f"/tasks/{task_id}/history")[-1]["type"] == "task:delivered"
