"""Stream records as moto writes them: the same record always gives the same events."""

from __future__ import annotations

from typing import Any

import pytest
from duecourse.adapters.aws.dynamodb.circuit_breakers import DynamoCircuitBreakerStore
from duecourse.adapters.aws.dynamodb.stream import (
    is_task_record,
    ordering_key,
    parse_live_events,
    parse_task_change,
    sequence_number,
)
from duecourse.adapters.aws.dynamodb.task_store import DynamoTaskStore
from duecourse.domain.limits.circuit_breaker import CircuitBreaker, CircuitState
from duecourse.domain.limits.circuit_breakers import CircuitBreakers, transition_event
from duecourse.domain.time.instant import to_text
from moto.dynamodb.models import dynamodb_backends

from local.runtime.stream_sources import _to_lambda_record
from local.runtime.template import ACCOUNT, REGION
from tests.contract.conftest import RETENTION
from tests.support.builders.failures import fail_task
from tests.support.builders.moments import MINUTE, NOW
from tests.support.builders.tasks import ID, a_task, claim_task

OPEN = CircuitBreaker(
    state=CircuitState.OPEN,
    failures=10,
    opened_at=NOW,
    state_changed_at=NOW,
    state_until=NOW + MINUTE,
)


def stream_items(table: str) -> list[Any]:
    items: list[Any] = dynamodb_backends[ACCOUNT][REGION].tables[table].stream_shard.items
    return items


@pytest.fixture(autouse=True)
def _clear_streams() -> None:
    for table in ("TasksTable", "JournalTable"):
        stream_items(table).clear()


def records(table: str) -> list[dict[str, Any]]:
    return [_to_lambda_record(item.to_json()) for item in stream_items(table)]


def write_task_changes(dynamo: DynamoTaskStore) -> list[dict[str, Any]]:
    """Create a task, claim it and fail it; return the records."""
    task = dynamo.create(a_task())
    running = claim_task(task)
    dynamo.save(task, running)
    dynamo.save(running, fail_task(running))
    return records("TasksTable")


def write_breaker_event() -> dict[str, Any]:
    circuit_breakers = CircuitBreakers().with_breaker("llm", OPEN)
    event = transition_event("llm", CircuitBreaker(), OPEN, at=NOW)
    DynamoCircuitBreakerStore(retention=RETENTION).save(CircuitBreakers(), circuit_breakers, event)
    [record] = records("JournalTable")
    return record


def test_a_task_change_has_the_old_and_the_new_version(dynamo: DynamoTaskStore) -> None:
    first, second, third = (parse_task_change(record) for record in write_task_changes(dynamo))
    assert (first.old, first.new) == (None, second.old)
    assert second.new == third.old
    assert third.new == dynamo.get(ID)


def test_the_events_of_a_task_are_numbered_by_its_versions(dynamo: DynamoTaskStore) -> None:
    events = [event for record in write_task_changes(dynamo) for event in parse_live_events(record)]
    assert [(event.id, event.type) for event in events] == [
        (f"{ID}:1:0", "task:created"),
        (f"{ID}:2:0", "task:started"),
        (f"{ID}:3:0", "task:retry_scheduled"),
    ]


def test_a_record_read_twice_gives_the_same_events(dynamo: DynamoTaskStore) -> None:
    for record in [*write_task_changes(dynamo), write_breaker_event()]:
        assert parse_live_events(record) == parse_live_events(record) != []


def test_a_breaker_record_gives_its_event() -> None:
    record = write_breaker_event()
    assert (is_task_record(record), ordering_key(record)) == (False, "breaker#llm")
    [event] = parse_live_events(record)
    assert event.owner is None
    assert event.to_json() == {
        "type": "breaker:opened",
        "task_id": "breaker#llm",
        "at": to_text(NOW),
        "detail": {
            "provider": "llm",
            "failures": 10,
            "until": to_text(NOW + MINUTE),
            "event_id": "breaker#llm:1:0",
        },
    }


def test_a_breaker_event_of_an_unknown_type_is_skipped() -> None:
    record = write_breaker_event()
    record["dynamodb"]["NewImage"]["type"] = {"S": "breaker:invented_later"}
    assert parse_live_events(record) == []


def test_records_of_one_task_share_an_ordering_key(dynamo: DynamoTaskStore) -> None:
    task_records = write_task_changes(dynamo)
    assert [ordering_key(record) for record in task_records] == [ID] * 3
    assert all(is_task_record(record) for record in task_records)
    assert len({sequence_number(record) for record in task_records}) == 3


def test_an_expired_task_gives_no_event(dynamo: DynamoTaskStore) -> None:
    [created, *_] = write_task_changes(dynamo)
    change = {**created["dynamodb"], "OldImage": created["dynamodb"]["NewImage"]}
    del change["NewImage"]
    assert parse_live_events({**created, "eventName": "REMOVE", "dynamodb": change}) == []
