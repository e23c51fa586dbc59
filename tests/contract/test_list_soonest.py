"""The tasks that run or are due next, and what listing them costs."""

from __future__ import annotations

from typing import Any

import pytest
from duecourse.adapters.aws.dynamodb.models import TaskItem
from duecourse.adapters.aws.dynamodb.task_store import DynamoTaskStore
from duecourse.domain.dispatch.lanes import DUE_LANES, Lane, partitions_of
from duecourse.domain.lifecycle import user_actions
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.ports.tasks import TaskStore

from local.runtime.call_interceptor import Call, CallInterceptor, attribute_calls_to
from tests.contract.conftest import SHARDS
from tests.support.builders.moments import HOUR, MINUTE, NOW
from tests.support.builders.tasks import a_task, claim_task


def a_numbered_task(number: int, **fields: Any) -> Task:
    """Return a task whose id sorts by the number and is spread over the shards by it."""
    return a_task(id=f"{number:08x}-0000-4000-8000-000000000000", **fields)


def create(store: TaskStore, *tasks: Task) -> list[Task]:
    return [store.create(task) for task in tasks]


def test_the_soonest_tasks_of_all_shards_are_listed_first(store: TaskStore) -> None:
    tasks = create(
        store, *(a_numbered_task(n, due_at=NOW + MINUTE * (7 * n % 10)) for n in range(10))
    )
    assert store.list_soonest(100) == sorted(tasks, key=lambda task: task.due_at)


def test_the_list_respects_its_limit(store: TaskStore) -> None:
    tasks = create(store, *(a_numbered_task(n, due_at=NOW + n * MINUTE) for n in range(2 * SHARDS)))
    assert store.list_soonest(5) == tasks[:5]


def test_all_listed_tasks_can_be_in_one_shard(store: TaskStore) -> None:
    tasks = create(store, *(a_numbered_task(SHARDS * n, due_at=NOW + n * MINUTE) for n in range(6)))
    assert store.list_soonest(5) == tasks[:5]


def test_tasks_due_at_the_same_instant_are_listed_by_id(store: TaskStore) -> None:
    tasks = create(store, *(a_numbered_task(n, due_at=NOW) for n in range(7)))
    assert store.list_soonest(7) == tasks


@pytest.mark.parametrize(
    ("task", "is_listed"),
    [
        (a_numbered_task(0), True),
        (claim_task(a_numbered_task(0)), True),
        (a_numbered_task(0, status=Status.PENDING_VERIFICATION), True),
        (user_actions.pause(a_numbered_task(0)), False),
        (user_actions.cancel(a_numbered_task(0), at=NOW), False),
        (a_numbered_task(0, status=Status.BLOCKED), False),
        (a_numbered_task(0, status=Status.FAILED), False),
    ],
    ids=["pending", "running", "in verification", "paused", "cancelled", "blocked", "failed"],
)
def test_only_running_and_scheduled_tasks_are_listed(
    store: TaskStore, task: Task, is_listed: bool
) -> None:
    create(store, task)
    assert store.list_soonest(10) == ([task] if is_listed else [])


def test_a_stale_index_entry_is_not_listed(
    dynamo: DynamoTaskStore,
) -> None:
    """The index lags behind the table: here permanently."""
    [current] = create(dynamo, a_numbered_task(1, due_at=NOW + HOUR))
    stale = dynamo._to_item(a_numbered_task(0, status=Status.CANCELLED))
    stale.due_shard = 0
    stale.save()
    assert [item.id for item in TaskItem.due_index.query(0)] != []
    assert dynamo.list_soonest(10) == [current]


def test_listing_costs_a_query_per_partition_and_one_batch_read(
    dynamo: DynamoTaskStore, calls: CallInterceptor
) -> None:
    create(dynamo, *(a_numbered_task(n, due_at=NOW + n * MINUTE) for n in range(30)))
    requests: list[tuple[str, int]] = []

    def record_request(call: Call) -> None:
        keys = call.body.get("RequestItems", {}).get(TaskItem.Meta.table_name, {}).get("Keys", ())
        requests.append((call.operation, call.body.get("Limit") or len(keys)))

    calls.on_aws_call = record_request
    with attribute_calls_to("me"):
        assert len(dynamo.list_soonest(6)) == 6
    partitions = len(partitions_of(DUE_LANES, SHARDS))
    assert requests == [*[("Query", 6)] * partitions, ("BatchGetItem", 6)]


def test_only_the_given_lanes_are_read(dynamo: DynamoTaskStore, calls: CallInterceptor) -> None:
    reminder, action = create(dynamo, a_numbered_task(0), a_numbered_task(1, type="action"))
    with attribute_calls_to("me"):
        assert dynamo.list_soonest(6, [Lane.SLOW]) == [action]
    assert calls.counts["me", "dynamodb.Query"] == SHARDS
    assert dynamo.list_soonest(6, [Lane.NEW_REMINDER]) == [reminder]
