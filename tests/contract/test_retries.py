"""What a store finds of the tasks that wait for a retry."""

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


def retrying(number: int, wait: timedelta, **fields: Any) -> Task:
    run = a_run(ended_at=NOW, status=RunStatus.PAUSED_TRANSIENT)
    due_at = NOW + wait
    waiting = {"due_at": due_at, "next_retry_at": due_at, "retry_count": 1, "run": run}
    return a_task(id=f"{number:08x}-0000-4000-8000-000000000000", **waiting | fields)


def create(store: TaskStore, *tasks: Task) -> list[Task]:
    return [store.create(task) for task in tasks]


# Retries


def test_without_retries_there_are_none(store: TaskStore) -> None:
    store.create(a_task())
    assert store.list_retries(10) == []
    assert store.list_latest_retry_times(10) == []


def test_retries_of_both_lanes_come_soonest_first(store: TaskStore) -> None:
    day, minute, hours, hour = create(
        store, retrying(0, DAY), retrying(1, MINUTE), retrying(2, 2 * HOUR), retrying(3, HOUR)
    )
    assert store.list_retries(10) == [minute, hour, hours, day]


def test_no_more_retries_come_than_were_asked_for(store: TaskStore) -> None:
    tasks = create(store, *(retrying(n, n * 20 * MINUTE) for n in range(1, 7)))
    assert store.list_retries(4) == tasks[:4]


def test_retries_at_the_same_moment_come_in_the_order_of_their_ids(store: TaskStore) -> None:
    tasks = create(store, *(retrying(n, MINUTE) for n in range(5)))
    assert store.list_retries(5) == tasks


@pytest.mark.parametrize(
    "fields",
    [{"next_retry_at": None}, {"paused": True}, {"status": Status.FAILED}],
    ids=["first attempt", "paused", "failed"],
)
def test_what_waits_for_no_retry_is_not_told(store: TaskStore, fields: dict[str, Any]) -> None:
    store.create(retrying(0, MINUTE, **fields))
    assert store.list_retries(10) == []
    assert store.list_latest_retry_times(10) == []


@pytest.mark.parametrize(
    "move",
    [claim_task, user_actions.pause, lambda task: user_actions.cancel(task, at=NOW)],
    ids=["claimed", "paused", "cancelled"],
)
def test_a_task_that_moves_on_leaves_the_retries(store: TaskStore, move: Any) -> None:
    task = store.create(retrying(0, MINUTE))
    store.save(task, move(task))
    assert store.list_retries(10) == []
    assert store.list_latest_retry_times(10) == []


def test_a_task_that_the_index_still_has_but_that_moved_on_is_left_out(
    dynamo: DynamoTaskStore,
) -> None:
    """The index lags behind the table: here for ever."""
    [task] = create(dynamo, retrying(0, MINUTE))
    for stale in (claim_task(task), retrying(1, MINUTE, status=Status.CANCELLED)):
        item = dynamo._to_item(stale)
        item.retry_lane, item.next_retry_at = "soon", NOW + MINUTE
        item.save()
    assert [item.id for item in TaskItem.retry_index.query("soon")] != []
    assert dynamo.list_retries(10) == []


# The latest


def test_the_latest_retries_of_the_lane_soon_come_latest_first(store: TaskStore) -> None:
    create(store, *(retrying(n, n * MINUTE) for n in range(1, 6)), retrying(9, DAY))
    assert store.list_latest_retry_times(3) == [
        NOW + 5 * MINUTE,
        NOW + 4 * MINUTE,
        NOW + 3 * MINUTE,
    ]


def test_fewer_than_asked_for_are_all_there_are(store: TaskStore) -> None:
    create(store, retrying(1, MINUTE), retrying(2, HOUR))
    assert store.list_latest_retry_times(50) == [NOW + HOUR, NOW + MINUTE]


def test_a_held_retry_is_among_the_latest(store: TaskStore) -> None:
    run = a_run(ended_at=NOW, diagnosis=RunDiagnosis(delay=2 * MINUTE))
    create(store, retrying(1, MINUTE), retrying(2, 3 * HOUR, run=run))
    assert store.list_latest_retry_times(1) == [NOW + 3 * HOUR]


def test_the_latest_retries_cost_one_query_however_many_there_are(
    dynamo: DynamoTaskStore, calls: CallInterceptor
) -> None:
    create(dynamo, *(retrying(n, n * MINUTE) for n in range(12)))
    asked: list[Any] = []
    calls.on_aws_call = lambda call: asked.append((call.operation, call.body["Limit"]))
    with attribute_calls_to("me"):
        dynamo.list_latest_retry_times(5)
    assert asked == [("Query", 5)]
