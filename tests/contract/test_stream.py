"""Stream records as the table writes them: the same record always gives the same events."""

from __future__ import annotations

from typing import Any

import pytest
from duecourse.adapters.aws.dynamodb.circuit_breakers import DynamoCircuitBreakerStore
from duecourse.adapters.aws.dynamodb.stream import (
    NO_SHARD,
    is_task_record,
    parse_change,
    parse_changes,
    parse_live_events,
    sequence_number,
    shard_of,
    written_at,
)
from duecourse.adapters.aws.dynamodb.task_store import DynamoTaskStore
from duecourse.domain.limits.circuit_breaker import CircuitBreaker, CircuitState
from duecourse.domain.limits.circuit_breakers import StoredBreaker, transition_event
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import to_text

from local.runtime.aws_backend import AwsBackend
from tests.contract.conftest import RETENTION
from tests.support.builders.failures import fail_repeatedly, fail_task
from tests.support.builders.moments import MINUTE, NOW
from tests.support.builders.tasks import ID, a_task, claim_task
from tests.support.fakes.clock import ManualClock

OPEN = CircuitBreaker(
    state=CircuitState.OPEN,
    failures=10,
    opened_at=NOW,
    state_changed_at=NOW,
    state_until=NOW + MINUTE,
)


def write_task_changes(dynamo: DynamoTaskStore, backend: AwsBackend) -> list[dict[str, Any]]:
    """Create a task, claim it and fail it; return the records."""
    task = dynamo.create(a_task())
    running = claim_task(task)
    dynamo.save(task, running)
    dynamo.save(running, fail_task(running))
    return list(backend.stream_records("TasksTable"))


def write_breaker_event(backend: AwsBackend) -> dict[str, Any]:
    event = transition_event("llm", CircuitBreaker(), OPEN, at=NOW)
    breakers = DynamoCircuitBreakerStore(ManualClock(NOW), retention=RETENTION)
    breakers.save("llm", StoredBreaker(), OPEN, event)
    [record] = backend.stream_records("JournalTable")
    return record


def test_a_task_change_has_the_old_and_the_new_version(
    dynamo: DynamoTaskStore, backend: AwsBackend
) -> None:
    task_records = write_task_changes(dynamo, backend)
    first, second, third = (parse_change(record) for record in task_records)
    assert (first.old, first.new) == (None, second.old)
    assert second.new == third.old
    assert third.new == dynamo.get(ID)
    for change, record in zip((first, second, third), task_records, strict=True):
        assert (change.task_id, change.is_known, change.breaker_events) == (ID, True, ())
        assert change.sequence_number == sequence_number(record)
        assert change.written_at == written_at(record)


@pytest.mark.parametrize(
    "task",
    [a_task(payload={"a": 1}), fail_repeatedly(a_task(repeat="daily"), 1), claim_task(a_task())],
    ids=["new", "retrying", "running"],
)
def test_a_task_is_read_from_its_image_in_the_stream(
    dynamo: DynamoTaskStore, backend: AwsBackend, task: Task
) -> None:
    dynamo.create(task)
    [record] = backend.stream_records("TasksTable")
    assert parse_change(record).new == task


@pytest.mark.parametrize("image", [None, {}])
def test_a_missing_image_gives_no_task(
    dynamo: DynamoTaskStore, backend: AwsBackend, image: dict[str, Any] | None
) -> None:
    [record, *_] = write_task_changes(dynamo, backend)
    record["dynamodb"]["OldImage"] = image
    assert parse_change(record).old is None


@pytest.mark.parametrize("side", ["OldImage", "NewImage"])
@pytest.mark.parametrize(
    "damage", [{"schema_version": {"N": "9"}}, {"due_at": {"S": "soon"}}, {"run": {"S": "{"}}]
)
def test_an_unreadable_image_does_not_raise(
    dynamo: DynamoTaskStore, backend: AwsBackend, side: str, damage: dict[str, Any]
) -> None:
    """Lambda would deliver the record again and again. The new task is given if it is readable."""
    *_, record = write_task_changes(dynamo, backend)
    record["dynamodb"][side] = {**record["dynamodb"][side], **damage}
    change = parse_change(record)
    assert (change.is_known, change.task_id, change.old) == (
        *(False, ID, None if side == "OldImage" else change.old),
    )
    assert (change.new is None) is (side == "NewImage")
    assert parse_live_events(record) == []


def test_the_time_of_a_write_is_in_utc(dynamo: DynamoTaskStore, backend: AwsBackend) -> None:
    [record, *_] = write_task_changes(dynamo, backend)
    record["dynamodb"]["ApproximateCreationDateTime"] = NOW.timestamp()
    assert parse_change(record).written_at == NOW


def test_the_shard_comes_from_the_window() -> None:
    assert shard_of({"Records": [], "shardId": "shardId-1", "state": {}}) == "shardId-1"
    assert shard_of({"Records": []}) == NO_SHARD


def test_the_events_of_a_task_are_numbered_by_its_versions(
    dynamo: DynamoTaskStore, backend: AwsBackend
) -> None:
    records = write_task_changes(dynamo, backend)
    events = [event for record in records for event in parse_live_events(record)]
    assert [(event.id, event.type) for event in events] == [
        (f"{ID}:1:0", "task:created"),
        (f"{ID}:2:0", "task:started"),
        (f"{ID}:3:0", "task:retry_scheduled"),
    ]


def test_a_record_read_twice_gives_the_same_events(
    dynamo: DynamoTaskStore, backend: AwsBackend
) -> None:
    for record in [*write_task_changes(dynamo, backend), write_breaker_event(backend)]:
        assert parse_live_events(record) == parse_live_events(record) != []


def test_a_breaker_record_gives_its_event(backend: AwsBackend) -> None:
    record = write_breaker_event(backend)
    assert not is_task_record(record)
    [event] = parse_live_events(record)
    change = parse_change(record)
    assert (change.task_id, change.new, change.breaker_events) == (None, None, [event])
    assert event.owner is None
    assert event.to_json() == {
        "type": "breaker:opened",
        "task_id": "breaker#llm",
        "at": to_text(NOW),
        "detail": {
            "provider": "llm",
            "failures": 10,
            "until": to_text(NOW + MINUTE),
            "event_id": f"breaker#llm:{int(NOW.timestamp())}:0",
        },
    }


def test_a_breaker_event_of_an_unknown_type_is_skipped(backend: AwsBackend) -> None:
    record = write_breaker_event(backend)
    record["dynamodb"]["NewImage"]["type"] = {"S": "breaker:invented_later"}
    assert parse_live_events(record) == []


def test_sequence_numbers_rise_as_numbers(dynamo: DynamoTaskStore, backend: AwsBackend) -> None:
    task_records = write_task_changes(dynamo, backend)
    assert all(is_task_record(record) for record in task_records)
    numbers = [int(sequence_number(record)) for record in task_records]
    assert numbers == sorted(set(numbers))
    assert len(numbers) == 3


def test_an_expired_task_gives_no_event(dynamo: DynamoTaskStore, backend: AwsBackend) -> None:
    [created, *_] = write_task_changes(dynamo, backend)
    change = {**created["dynamodb"], "OldImage": created["dynamodb"]["NewImage"]}
    del change["NewImage"]
    assert parse_live_events({**created, "eventName": "REMOVE", "dynamodb": change}) == []


@pytest.mark.parametrize(
    ("record", "is_deleted"),
    [
        ({"eventName": "REMOVE"}, True),
        ({"eventName": "REMOVE", "userIdentity": None}, True),
        (
            {
                "eventName": "REMOVE",
                "userIdentity": {"type": "Service", "principalId": "dynamodb.amazonaws.com"},
            },
            False,
        ),
        ({"eventName": "MODIFY"}, False),
    ],
)
def test_a_task_that_expired_was_not_deleted(record: dict[str, Any], is_deleted: bool) -> None:
    keys = {"short_id": {"S": ID[:8]}, "id": {"S": ID}}
    change = {"Keys": keys, "SequenceNumber": "1", "ApproximateCreationDateTime": 0}

    assert parse_change({**record, "dynamodb": change}).is_deleted is is_deleted


def test_a_batch_is_parsed_as_its_records_are(dynamo: DynamoTaskStore, backend: AwsBackend) -> None:
    records = write_task_changes(dynamo, backend)
    unreadable = {**records[-1], "dynamodb": {**records[-1]["dynamodb"], "NewImage": {}}}
    broken = {"id": {"S": ID}, "short_id": {"S": ID[:8]}, "version": {"N": "x"}}
    unreadable["dynamodb"]["NewImage"] = broken
    batch = [*records, *records, unreadable, records[0]]

    assert parse_changes(batch) == [parse_change(record) for record in batch]
