"""Pending retries: which tasks a store lists, and in which order."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from duecourse.adapters.aws.dynamodb.models import TaskItem
from duecourse.adapters.aws.dynamodb.task_store import DynamoTaskStore
from duecourse.domain.lifecycle import user_actions
from duecourse.domain.tasks.run import RunStatus
from duecourse.domain.tasks.run_diagnosis import RunDiagnosis
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.ports.tasks import TaskStore

from local.runtime.call_interceptor import CallInterceptor, attribute_calls_to
from tests.support.builders.moments import DAY, HOUR, MINUTE, NOW
from tests.support.builders.runs import a_run
from tests.support.builders.tasks import a_task, claim_task


def a_retrying_task(number: int, delay: timedelta, **fields: Any) -> Task:
    run = a_run(ended_at=NOW, status=RunStatus.PAUSED_TRANSIENT)
    due_at = NOW + delay
    retry_fields = {"due_at": due_at, "next_retry_at": due_at, "retry_count": 1, "run": run}
    return a_task(id=f"{number:08x}-0000-4000-8000-000000000000", **retry_fields | fields)


def create(store: TaskStore, *tasks: Task) -> list[Task]:
    return [store.create(task) for task in tasks]


# Retries


def test_without_retries_the_lists_are_empty(store: TaskStore) -> None:
    store.create(a_task())
    assert store.list_retries(10) == []
    assert store.list_latest_retry_times(10) == []


def test_retries_of_both_lanes_are_listed_soonest_first(store: TaskStore) -> None:
    day, minute, hours, hour = create(
        store,
        a_retrying_task(0, DAY),
        a_retrying_task(1, MINUTE),
        a_retrying_task(2, 2 * HOUR),
        a_retrying_task(3, HOUR),
    )
    assert store.list_retries(10) == [minute, hour, hours, day]


def test_the_retry_list_respects_its_limit(store: TaskStore) -> None:
    tasks = create(store, *(a_retrying_task(n, n * 20 * MINUTE) for n in range(1, 7)))
    assert store.list_retries(4) == tasks[:4]


def test_retries_at_the_same_instant_are_listed_by_id(store: TaskStore) -> None:
    tasks = create(store, *(a_retrying_task(n, MINUTE) for n in range(5)))
    assert store.list_retries(5) == tasks


@pytest.mark.parametrize(
    "fields",
    [{"next_retry_at": None}, {"paused": True}, {"status": Status.FAILED}],
    ids=["first attempt", "paused", "failed"],
)
def test_the_retry_list_omits_tasks_without_a_pending_retry(
    store: TaskStore, fields: dict[str, Any]
) -> None:
    store.create(a_retrying_task(0, MINUTE, **fields))
    assert store.list_retries(10) == []
    assert store.list_latest_retry_times(10) == []


@pytest.mark.parametrize(
    "transition",
    [claim_task, user_actions.pause, lambda task: user_actions.cancel(task, at=NOW)],
    ids=["claimed", "paused", "cancelled"],
)
def test_a_task_that_no_longer_awaits_a_retry_is_not_listed(
    store: TaskStore, transition: Any
) -> None:
    task = store.create(a_retrying_task(0, MINUTE))
    store.save(task, transition(task))
    assert store.list_retries(10) == []
    assert store.list_latest_retry_times(10) == []


def test_a_stale_index_entry_is_not_listed(
    dynamo: DynamoTaskStore,
) -> None:
    """The index lags behind the table: here permanently."""
    [task] = create(dynamo, a_retrying_task(0, MINUTE))
    for stale in (claim_task(task), a_retrying_task(1, MINUTE, status=Status.CANCELLED)):
        item = dynamo._to_item(stale)
        item.retry_lane, item.next_retry_at = "soon", NOW + MINUTE
        item.save()
    assert [item.id for item in TaskItem.retry_index.query("soon")] != []
    assert dynamo.list_retries(10) == []


# Latest retry times


def test_the_latest_retry_times_of_the_soon_lane_are_listed_latest_first(store: TaskStore) -> None:
    create(store, *(a_retrying_task(n, n * MINUTE) for n in range(1, 6)), a_retrying_task(9, DAY))
    assert store.list_latest_retry_times(3) == [
        NOW + 5 * MINUTE,
        NOW + 4 * MINUTE,
        NOW + 3 * MINUTE,
    ]


def test_fewer_retries_than_the_limit_are_all_listed(store: TaskStore) -> None:
    create(store, a_retrying_task(1, MINUTE), a_retrying_task(2, HOUR))
    assert store.list_latest_retry_times(50) == [NOW + HOUR, NOW + MINUTE]


def test_a_throttled_retry_is_among_the_latest(store: TaskStore) -> None:
    run = a_run(ended_at=NOW, diagnosis=RunDiagnosis(delay=2 * MINUTE))
    create(store, a_retrying_task(1, MINUTE), a_retrying_task(2, 3 * HOUR, run=run))
    assert store.list_latest_retry_times(1) == [NOW + 3 * HOUR]


def test_the_latest_retry_times_cost_one_query(
    dynamo: DynamoTaskStore, calls: CallInterceptor
) -> None:
    create(dynamo, *(a_retrying_task(n, n * MINUTE) for n in range(12)))
    queries: list[Any] = []
    calls.on_aws_call = lambda call: queries.append((call.operation, call.body["Limit"]))
    with attribute_calls_to("me"):
        dynamo.list_latest_retry_times(5)
    assert queries == [("Query", 5)]
