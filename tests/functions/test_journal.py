"""The journal function: each failure and recovery is counted once, whatever becomes of a batch."""

from __future__ import annotations

from typing import Any

import pytest
from duecourse.app import queues
from moto.dynamodb.models import dynamodb_backends

from local.runtime.stream_sources import _to_lambda_record
from local.runtime.template import ACCOUNT, REGION
from tests.support.stack_client import StackClient

REFUSED = {"code": "ValidationException", "status": 400}
DOWN = {"message": "503 Service Unavailable"}


def tables() -> dict[str, Any]:
    found: dict[str, Any] = dynamodb_backends[ACCOUNT][REGION].tables
    return found


def two_reminders_of_which_one_fails_first(client: StackClient) -> tuple[str, str]:
    client.add_fault(function="worker", call="channel.send", kind="error", error=DOWN)
    failing = client.create(**{"in": "10s"})["id"]
    client.advance("20s")
    fine = client.create(**{"in": "10s"})["id"]
    client.advance("1h")
    return failing, fine


def counts(client: StackClient) -> tuple[int, int, int]:
    """Failures, recoveries and successes."""
    stats = client.call("GET", "/stats").body
    [rate] = stats["recovery_rate"]
    [errors] = stats["errors_by_category"]
    assert errors["count"] == rate["failures"]
    return rate["failures"], rate["recovered"], stats["lateness"]["count"]


def forgotten(client: StackClient) -> list[dict[str, Any]]:
    """All changes so far, as one batch, with nothing kept of them and nobody told."""
    queues.sent_notification_keys().clear()
    for table in ("JournalTable", "StatsTable"):
        tables()[table].items.clear()
    assert client.call("GET", "/stats").body["lateness"]["count"] == 0
    return [_to_lambda_record(item.to_json()) for item in tables()["TasksTable"].stream_shard.items]


def sequences(records: list[dict[str, Any]]) -> list[str]:
    return [record["dynamodb"]["SequenceNumber"] for record in records]


def failed_in(reply: dict[str, Any]) -> list[str]:
    return [one["itemIdentifier"] for one in reply["batchItemFailures"]]


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
def test_whatever_call_the_journal_dies_at_failures_are_counted_once(
    client: StackClient, call: str, when: str, nth: int
) -> None:
    client.add_fault(function="journal", call=call, when=when, nth=nth, kind="crash")
    failing, _ = two_reminders_of_which_one_fails_first(client)
    failures, recoveries, successes = counts(client)
    assert (failures, recoveries) == (1, 1)
    assert len(client.items(f"/tasks/{failing}/errors")) == 1
    # Killed after its last call, the batch comes again: then a success may count twice.
    assert successes in ({2, 3} if (call, when) == ("dynamodb.UpdateItem", "after") else {2})


def test_after_a_change_that_could_not_be_kept_later_ones_of_its_task_wait(
    client: StackClient,
) -> None:
    failing, fine = two_reminders_of_which_one_fails_first(client)
    records = forgotten(client)
    client.add_fault(
        function="journal", call="dynamodb.TransactWriteItems", kind="error", error=REFUSED
    )
    reply = client.stack.invoke("journal", {"Records": records})
    told = failed_in(reply)
    own = [one for one in records if one["dynamodb"]["Keys"]["id"]["S"] == failing]
    assert told == [number for number in sequences(own) if number >= told[0]]
    assert len(told) > 1
    assert [event["type"] for event in client.items(f"/tasks/{fine}/history")][-1] == (
        "task:delivered"
    )


def test_a_batch_that_comes_again_from_the_one_that_failed_counts_all_once(
    client: StackClient,
) -> None:
    two_reminders_of_which_one_fails_first(client)
    records = forgotten(client)
    client.add_fault(
        function="journal", call="dynamodb.TransactWriteItems", kind="error", error=REFUSED
    )
    first = failed_in(client.stack.invoke("journal", {"Records": records}))[0]
    again = records[sequences(records).index(first) :]
    assert failed_in(client.stack.invoke("journal", {"Records": again})) == []
    assert counts(client) == (1, 1, 2)


def test_nobody_is_told_again_for_the_sake_of_anothers_record(client: StackClient) -> None:
    script = [{"error": DOWN}]
    action = {"type": "action", "payload": {"provider": "scripted", "script": script}}
    for person in ("ada", "bob"):
        client.create(**action, sender_id=person, reply_target=person, **{"in": "10s"})
    client.advance("20s")
    told = {person: len(client.outbox(person)) for person in ("ada", "bob")}
    failures = [one for one in forgotten(client) if "next_retry_at" in one["dynamodb"]["NewImage"]]
    ada = failures[0]["dynamodb"]["NewImage"]["sender_id"]["S"]
    [bob] = set(told) - {ada}
    for _ in range(3):
        client.add_fault(
            function="journal", call="dynamodb.TransactWriteItems", kind="error", error=REFUSED
        )
        assert len(failed_in(client.stack.invoke("journal", {"Records": failures}))) == 1
        client.advance("1s")
    assert (len(client.outbox(ada)), len(client.outbox(bob))) == (told[ada], told[bob] + 1)

    assert failed_in(client.stack.invoke("journal", {"Records": failures})) == []
    client.advance("1s")
    assert (len(client.outbox(ada)), len(client.outbox(bob))) == (told[ada] + 1, told[bob] + 1)


def test_after_a_reset_a_task_of_the_same_name_is_told_of_anew(client: StackClient) -> None:
    script = [{"reply": "ACTION_OUTCOME: success"}]
    action = {"type": "action", "payload": {"provider": "scripted", "script": script}}
    asked = {**action, "description": "tidy up", "in": "10s", "channel": "console"}
    asked |= {"sender_id": "ada", "reply_target": "ada"}
    for _ in range(2):
        assert client.call("POST", "/_local/reset").status == 200
        made = client.call("POST", "/tasks", asked, headers={"idempotency-key": "k1"})
        assert made.status == 201
        client.advance("1m")
        assert [one["text"][:4] for one in client.outbox("ada")] == ["Done"]


def test_counters_that_cannot_be_written_hold_up_no_history(client: StackClient) -> None:
    """Nothing comes again for their sake: neither records nor the whole invocation."""
    tasks = two_reminders_of_which_one_fails_first(client)
    records = forgotten(client)
    fault = {"call": "dynamodb.UpdateItem", "kind": "error", "error": REFUSED, "times": 9}
    client.add_fault(function="journal", **fault)
    assert failed_in(client.stack.invoke("journal", {"Records": records})) == []
    assert counts(client) == (1, 1, 0)
    for task_id in tasks:
        assert client.items(f"/tasks/{task_id}/history")[-1]["type"] == "task:delivered"
