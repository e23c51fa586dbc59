"""The streams' records, as moto writes them: the same record always tells the same."""

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


def shard(table: str) -> list[Any]:
    found: list[Any] = dynamodb_backends[ACCOUNT][REGION].tables[table].stream_shard.items
    return found


@pytest.fixture(autouse=True)
def _forgotten() -> None:
    for table in ("TasksTable", "JournalTable"):
        shard(table).clear()


def records(table: str) -> list[dict[str, Any]]:
    return [_to_lambda_record(item.to_json()) for item in shard(table)]


def written(dynamo: DynamoTaskStore) -> list[dict[str, Any]]:
    """Of a task that was made, claimed and has failed."""
    task = dynamo.create(a_task())
    running = claim_task(task)
    dynamo.save(task, running)
    dynamo.save(running, fail_task(running))
    return records("TasksTable")


def opened() -> dict[str, Any]:
    panel = CircuitBreakers().with_breaker("llm", OPEN)
    event = transition_event("llm", CircuitBreaker(), OPEN, at=NOW)
    DynamoCircuitBreakerStore(retention=RETENTION).save(CircuitBreakers(), panel, event)
    [record] = records("JournalTable")
    return record


def test_a_change_of_a_task_has_what_was_and_what_is(dynamo: DynamoTaskStore) -> None:
    first, second, third = (parse_task_change(record) for record in written(dynamo))
    assert (first.old, first.new) == (None, second.old)
    assert second.new == third.old
    assert third.new == dynamo.get(ID)


def test_the_events_of_a_task_are_numbered_by_its_versions(dynamo: DynamoTaskStore) -> None:
    told = [event for record in written(dynamo) for event in parse_live_events(record)]
    assert [(event.id, event.type) for event in told] == [
        (f"{ID}:1:0", "task:created"),
        (f"{ID}:2:0", "task:started"),
        (f"{ID}:3:0", "task:retry_scheduled"),
    ]


def test_a_record_read_twice_tells_the_same(dynamo: DynamoTaskStore) -> None:
    for record in [*written(dynamo), opened()]:
        assert parse_live_events(record) == parse_live_events(record) != []


def test_of_a_breaker_it_is_told_what_happened_to_it() -> None:
    record = opened()
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


def test_what_newer_code_tells_of_a_breaker_is_left_out() -> None:
    record = opened()
    record["dynamodb"]["NewImage"]["type"] = {"S": "breaker:invented_later"}
    assert parse_live_events(record) == []


def test_what_belongs_to_one_task_is_known_by_its_key(dynamo: DynamoTaskStore) -> None:
    found = written(dynamo)
    assert [ordering_key(record) for record in found] == [ID] * 3
    assert all(is_task_record(record) for record in found)
    assert len({sequence_number(record) for record in found}) == 3


def test_a_task_that_aged_out_is_no_news(dynamo: DynamoTaskStore) -> None:
    [created, *_] = written(dynamo)
    change = {**created["dynamodb"], "OldImage": created["dynamodb"]["NewImage"]}
    del change["NewImage"]
    assert parse_live_events({**created, "eventName": "REMOVE", "dynamodb": change}) == []
