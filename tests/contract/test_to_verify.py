"""What a store finds of the work that waits for somebody's verdict."""

from __future__ import annotations

from typing import Any

import pytest
from duecourse.adapters.aws.dynamodb.models import TaskItem
from duecourse.adapters.aws.dynamodb.task_store import DynamoTaskStore
from duecourse.domain.lifecycle import user_actions
from duecourse.domain.lifecycle.verification import approve, request_verification
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import Wait, WaitReason
from duecourse.ports.tasks import TaskStore

from local.runtime.call_interceptor import Call, CallInterceptor, attribute_calls_to
from tests.support.builders.moments import DAY, HOUR, MINUTE, NOW
from tests.support.builders.tasks import a_task, claim_task


def done(number: int) -> Task:
    """Done, says whoever did it; there is an hour more for a verdict with each number."""
    task = claim_task(a_task(id=f"{number:08x}-0000-4000-8000-000000000000", type="action"))
    return request_verification(task, "ok", at=NOW, verify_until=NOW + (number + 1) * HOUR)


def create(store: TaskStore, *tasks: Task) -> list[Task]:
    return [store.create(task) for task in tasks]


def test_what_runs_out_first_comes_first(store: TaskStore) -> None:
    tasks = create(store, *(done(n) for n in range(5)))
    assert store.list_to_verify(50) == tasks
    assert store.list_to_verify(2) == tasks[:2]


def test_a_task_that_waits_for_a_verdict_is_stored_as_it_is(store: TaskStore) -> None:
    [task] = create(store, done(0))
    assert store.get(task.id) == task
    assert task.next_retry_at is None


def test_it_waits_for_no_retry(store: TaskStore) -> None:
    create(store, done(0))
    assert (store.list_retries(10), store.list_latest_retry_times(10)) == ([], [])


def test_its_time_is_up_when_it_is_due_as_before(store: TaskStore) -> None:
    create(store, done(0))
    [dispatch] = store.list_due(0, start=None, end=NOW + DAY)
    assert dispatch.due_at == NOW + HOUR


@pytest.mark.parametrize(
    "fields",
    [
        {"wait": Wait(WaitReason.VERIFIER), "status": Status.PENDING_VERIFICATION},
        {"wait": Wait(WaitReason.VERIFICATION), "status": Status.PENDING},
        {"status": Status.BLOCKED},
    ],
    ids=["for its verifier", "pending", "blocked"],
)
def test_what_waits_for_no_verdict_is_not_told(store: TaskStore, fields: dict[str, Any]) -> None:
    create(store, a_task(**fields))
    assert store.list_to_verify(10) == []


@pytest.mark.parametrize(
    "move",
    [lambda task: approve(task, at=NOW), lambda task: user_actions.cancel(task, at=NOW)],
    ids=["approved", "cancelled"],
)
def test_a_task_that_moves_on_is_told_no_more(dynamo: DynamoTaskStore, move: Any) -> None:
    [task] = create(dynamo, done(0))
    dynamo.save(task, move(task))
    assert dynamo.list_to_verify(10) == []
    assert list(TaskItem.retry_index.query("to_verify")) == []


def test_a_task_that_the_index_still_has_but_that_moved_on_is_left_out(
    dynamo: DynamoTaskStore,
) -> None:
    """The index lags behind the table: here for ever."""
    item = dynamo._to_item(a_task(due_at=NOW + MINUTE))
    item.retry_lane, item.next_retry_at = "to_verify", NOW + HOUR
    item.save()
    assert dynamo.list_to_verify(10) == []


def test_it_costs_a_query_and_a_read_however_many_there_are(
    dynamo: DynamoTaskStore, calls: CallInterceptor
) -> None:
    create(dynamo, *(done(n) for n in range(9)))
    asked: list[str] = []

    def watch(call: Call) -> None:
        asked.append(call.operation)

    calls.on_aws_call = watch
    with attribute_calls_to("me"):
        assert len(dynamo.list_to_verify(4)) == 4
    assert asked == ["Query", "BatchGetItem"]
