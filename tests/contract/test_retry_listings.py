"""Pending retries: which tasks a store lists, and in which order."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from duecourse.adapters.aws.dynamodb.models import TaskItem
from duecourse.adapters.aws.dynamodb.task_store import DynamoTaskStore
from duecourse.domain.dispatch.lanes import Lane, partition_of, partitions_of
from duecourse.domain.lifecycle import user_actions
from duecourse.domain.tasks.run import RunStatus
from duecourse.domain.tasks.run_diagnosis import RunDiagnosis
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.ports.tasks import TaskStore

from local.runtime.call_interceptor import CallInterceptor, attribute_calls_to
from tests.contract.conftest import SHARDS
from tests.support.builders.moments import DAY, HOUR, MILLISECOND, MINUTE, NOW
from tests.support.builders.runs import a_run
from tests.support.builders.tasks import a_task, claim_task


def a_retrying_task(number: int, delay: timedelta, **fields: Any) -> Task:
    diagnosis = RunDiagnosis(delay=delay, guidance_lines=0)
    run = a_run(ended_at=NOW, status=RunStatus.PAUSED_TRANSIENT, diagnosis=diagnosis)
    due_at = NOW + delay
    retry_fields = {"due_at": due_at, "nominal_at": NOW, "next_retry_at": due_at, "run": run}
    return a_task(
        id=f"{number:08x}-0000-4000-8000-000000000000", retry_count=1, **retry_fields | fields
    )


def latest_retry_times(store: TaskStore, limit: int) -> list[datetime]:
    """Return the latest times of all partitions that the retry limit counts."""
    partitions = partitions_of((Lane.REMINDER_RETRY, Lane.SLOW_RETRY), SHARDS)
    times = [at for partition in partitions for at in store.list_latest_due(partition, limit)]
    return sorted(times, reverse=True)[:limit]


def create(store: TaskStore, *tasks: Task) -> list[Task]:
    return [store.create(task) for task in tasks]


# Retries


def test_without_retries_the_lists_are_empty(store: TaskStore) -> None:
    store.create(a_task())
    assert store.list_retries(10) == []
    assert latest_retry_times(store, 10) == []


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
    assert latest_retry_times(store, 10) == []


@pytest.mark.parametrize(
    "transition",
    [user_actions.pause, lambda task: user_actions.cancel(task, at=NOW)],
    ids=["paused", "cancelled"],
)
def test_a_task_that_no_longer_awaits_a_retry_is_not_listed(
    store: TaskStore, transition: Any
) -> None:
    task = store.create(a_retrying_task(0, MINUTE))
    store.save(task, transition(task))
    assert store.list_retries(10) == []
    assert latest_retry_times(store, 10) == []


def test_a_running_retry_is_not_pending_but_counts_for_the_retry_limit(store: TaskStore) -> None:
    task = store.create(a_retrying_task(0, MINUTE))
    store.save(task, claim_task(task))
    assert store.list_retries(10) == []
    assert latest_retry_times(store, 10) == [NOW + MINUTE]


def test_running_retries_do_not_hide_pending_ones(store: TaskStore) -> None:
    for task in create(store, *(a_retrying_task(n, MINUTE) for n in range(7))):
        store.save(task, claim_task(task))
    pending = create(store, *(a_retrying_task(n, HOUR) for n in range(10, 14)))
    assert store.list_retries(3) == pending[:3]


def test_a_stale_index_entry_is_not_listed(
    dynamo: DynamoTaskStore,
) -> None:
    """The index lags behind the table: here permanently."""
    [task] = create(dynamo, a_retrying_task(0, MINUTE))
    for stale in (claim_task(task), a_retrying_task(1, MINUTE, status=Status.CANCELLED)):
        item = dynamo._to_item(stale)
        item.due_shard = partition_of(Lane.REMINDER_RETRY, 0, SHARDS)
        item.save()
    assert list(TaskItem.due_index.query(partition_of(Lane.REMINDER_RETRY, 0, SHARDS))) != []
    assert dynamo.list_retries(10) == []


# Latest retry times


def test_the_latest_retry_times_are_listed_latest_first_without_long_waits(
    store: TaskStore,
) -> None:
    create(store, *(a_retrying_task(n, n * MINUTE) for n in range(1, 6)), a_retrying_task(9, DAY))
    assert latest_retry_times(store, 3) == [
        NOW + 5 * MINUTE,
        NOW + 4 * MINUTE,
        NOW + 3 * MINUTE,
    ]


def test_fewer_retries_than_the_limit_are_all_listed(store: TaskStore) -> None:
    create(store, a_retrying_task(1, MINUTE), a_retrying_task(2, HOUR))
    assert latest_retry_times(store, 50) == [NOW + HOUR, NOW + MINUTE]


def test_a_throttled_retry_is_among_the_latest(store: TaskStore) -> None:
    run = a_run(ended_at=NOW, diagnosis=RunDiagnosis(delay=2 * MINUTE))
    create(store, a_retrying_task(1, MINUTE), a_retrying_task(2, 3 * HOUR, run=run))
    assert latest_retry_times(store, 1) == [NOW + 3 * HOUR]


def test_the_latest_due_times_of_a_partition_cost_one_query(
    dynamo: DynamoTaskStore, calls: CallInterceptor
) -> None:
    create(dynamo, *(a_retrying_task(n * SHARDS, n * MINUTE) for n in range(12)))
    queries: list[Any] = []
    calls.on_aws_call = lambda call: queries.append((call.operation, call.body["Limit"]))
    with attribute_calls_to("me"):
        times = dynamo.list_latest_due(partition_of(Lane.REMINDER_RETRY, 0, SHARDS), 3)
    assert times == [NOW + 11 * MINUTE, NOW + 10 * MINUTE, NOW + 9 * MINUTE]
    assert queries == [("Query", 3)]


# Counting retries


def test_retries_within_a_time_are_counted_up_to_a_limit(store: TaskStore) -> None:
    create(store, *(a_retrying_task(n * SHARDS, n * MINUTE) for n in range(1, 6)))
    partition = partition_of(Lane.REMINDER_RETRY, 0, SHARDS)

    def count(start: timedelta, end: timedelta, limit: int = 10) -> int:
        return store.count_due(partition, start=NOW + start, end=NOW + end, limit=limit)

    assert count(MINUTE, 5 * MINUTE) == 4
    assert count(MINUTE + MILLISECOND, 5 * MINUTE + MILLISECOND) == 4
    assert count(MINUTE, HOUR, limit=2) == 2
    assert count(HOUR, DAY) == 0


def test_counting_costs_one_query_of_as_many_keys(
    dynamo: DynamoTaskStore, calls: CallInterceptor
) -> None:
    create(dynamo, *(a_retrying_task(n * SHARDS, n * MINUTE) for n in range(12)))
    queries: list[Any] = []
    calls.on_aws_call = lambda call: queries.append((call.operation, call.body["Limit"]))
    partition = partition_of(Lane.REMINDER_RETRY, 0, SHARDS)
    with attribute_calls_to("me"):
        assert dynamo.count_due(partition, start=NOW, end=NOW + HOUR, limit=3) == 3
    assert queries == [("Query", 3)]
