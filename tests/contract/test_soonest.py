"""What a store finds of the tasks that run or come next, and what that costs."""

from __future__ import annotations

from typing import Any

import pytest
from duecourse.adapters.aws.dynamodb.models import TaskItem
from duecourse.adapters.aws.dynamodb.task_store import DynamoTaskStore
from duecourse.domain.lifecycle import user_actions
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.ports.tasks import TaskStore

from local.runtime.call_interceptor import Call, CallInterceptor, attribute_calls_to
from tests.contract.conftest import SHARDS
from tests.support.builders.moments import HOUR, MINUTE, NOW
from tests.support.builders.tasks import a_task, claim_task


def numbered(number: int, **fields: Any) -> Task:
    """Ids spread over the shards by their number, and sort by it."""
    return a_task(id=f"{number:08x}-0000-4000-8000-000000000000", **fields)


def create(store: TaskStore, *tasks: Task) -> list[Task]:
    return [store.create(task) for task in tasks]


def test_of_all_shards_the_soonest_come_first(store: TaskStore) -> None:
    tasks = create(store, *(numbered(n, due_at=NOW + MINUTE * (7 * n % 10)) for n in range(10)))
    assert store.list_soonest(100) == sorted(tasks, key=lambda task: task.due_at)


def test_no_more_come_than_were_asked_for(store: TaskStore) -> None:
    tasks = create(store, *(numbered(n, due_at=NOW + n * MINUTE) for n in range(2 * SHARDS)))
    assert store.list_soonest(5) == tasks[:5]


def test_all_of_them_may_be_in_one_shard(store: TaskStore) -> None:
    tasks = create(store, *(numbered(SHARDS * n, due_at=NOW + n * MINUTE) for n in range(6)))
    assert store.list_soonest(5) == tasks[:5]


def test_at_the_same_moment_they_come_in_the_order_of_their_ids(store: TaskStore) -> None:
    tasks = create(store, *(numbered(n, due_at=NOW) for n in range(7)))
    assert store.list_soonest(7) == tasks


@pytest.mark.parametrize(
    ("task", "is_told"),
    [
        (numbered(0), True),
        (claim_task(numbered(0)), True),
        (numbered(0, status=Status.PENDING_VERIFICATION), True),
        (user_actions.pause(numbered(0)), False),
        (user_actions.cancel(numbered(0), at=NOW), False),
        (numbered(0, status=Status.BLOCKED), False),
        (numbered(0, status=Status.FAILED), False),
    ],
    ids=["pending", "running", "in verification", "paused", "cancelled", "blocked", "failed"],
)
def test_only_what_runs_or_comes_is_told(store: TaskStore, task: Task, is_told: bool) -> None:
    create(store, task)
    assert store.list_soonest(10) == ([task] if is_told else [])


def test_a_task_that_the_index_still_has_but_that_moved_on_is_left_out(
    dynamo: DynamoTaskStore,
) -> None:
    """The index lags behind the table: here for ever."""
    [moved] = create(dynamo, numbered(1, due_at=NOW + HOUR))
    stale = dynamo._to_item(numbered(0, status=Status.CANCELLED))
    stale.due_shard = 0
    stale.save()
    assert [item.id for item in TaskItem.due_index.query(0)] != []
    assert dynamo.list_soonest(10) == [moved]


def test_it_costs_a_query_per_shard_and_one_read_however_many_there_are(
    dynamo: DynamoTaskStore, calls: CallInterceptor
) -> None:
    create(dynamo, *(numbered(n, due_at=NOW + n * MINUTE) for n in range(30)))
    asked: list[tuple[str, int]] = []

    def watch(call: Call) -> None:
        keys = call.body.get("RequestItems", {}).get(TaskItem.Meta.table_name, {}).get("Keys", ())
        asked.append((call.operation, call.body.get("Limit") or len(keys)))

    calls.on_aws_call = watch
    with attribute_calls_to("me"):
        assert len(dynamo.list_soonest(6)) == 6
    assert asked == [*[("Query", 6)] * SHARDS, ("BatchGetItem", 6)]
