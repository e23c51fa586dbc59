"""Tasks that wait for a person's verification: which ones a store lists."""

from __future__ import annotations

from typing import Any

import pytest
from duecourse.adapters.aws.dynamodb.models import TaskItem
from duecourse.adapters.aws.dynamodb.task_store import DynamoTaskStore
from duecourse.domain.dispatch.lanes import Lane, partition_of
from duecourse.domain.lifecycle import user_actions
from duecourse.domain.lifecycle.verification import approve, request_verification
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import Wait, WaitReason
from duecourse.ports.tasks import TaskStore

from local.runtime.call_interceptor import Call, CallInterceptor, attribute_calls_to
from tests.contract.conftest import SHARDS
from tests.contract.test_retry_listings import latest_retry_times
from tests.support.builders.moments import DAY, HOUR, MINUTE, NOW
from tests.support.builders.tasks import a_task, claim_task

TO_VERIFY = partition_of(Lane.VERIFICATION, 0, SHARDS)


def an_unverified_task(number: int) -> Task:
    """Return a task pending verification; each number adds an hour to its deadline."""
    task = claim_task(a_task(id=f"{number:08x}-0000-4000-8000-000000000000", type="action"))
    return request_verification(task, "ok", at=NOW, verify_until=NOW + (number + 1) * HOUR)


def create(store: TaskStore, *tasks: Task) -> list[Task]:
    return [store.create(task) for task in tasks]


def test_tasks_are_listed_by_verification_deadline(store: TaskStore) -> None:
    tasks = create(store, *(an_unverified_task(n) for n in range(5)))
    assert store.list_to_verify(50) == tasks
    assert store.list_to_verify(2) == tasks[:2]


def test_a_task_pending_verification_is_read_unchanged(store: TaskStore) -> None:
    [task] = create(store, an_unverified_task(0))
    assert store.get(task.id) == task
    assert task.next_retry_at is None


def test_a_task_pending_verification_has_no_pending_retry(store: TaskStore) -> None:
    create(store, an_unverified_task(0))
    assert (store.list_retries(10), latest_retry_times(store, 10)) == ([], [])


def test_a_task_pending_verification_is_due_at_its_deadline(store: TaskStore) -> None:
    create(store, an_unverified_task(0))
    [dispatch] = store.list_due(TO_VERIFY, start=None, end=NOW + DAY)
    assert (dispatch.due_at, dispatch.lane) == (NOW + HOUR, Lane.VERIFICATION)


@pytest.mark.parametrize(
    "fields",
    [
        {"wait": Wait(WaitReason.VERIFIER), "status": Status.PENDING_VERIFICATION},
        {"wait": Wait(WaitReason.VERIFICATION), "status": Status.PENDING},
        {"status": Status.BLOCKED},
    ],
    ids=["for its verifier", "pending", "blocked"],
)
def test_list_to_verify_omits_tasks_without_a_pending_verification(
    store: TaskStore, fields: dict[str, Any]
) -> None:
    create(store, a_task(**fields))
    assert store.list_to_verify(10) == []


@pytest.mark.parametrize(
    "transition",
    [lambda task: approve(task, at=NOW), lambda task: user_actions.cancel(task, at=NOW)],
    ids=["approved", "cancelled"],
)
def test_an_approved_or_cancelled_task_is_not_listed(
    dynamo: DynamoTaskStore, transition: Any
) -> None:
    [task] = create(dynamo, an_unverified_task(0))
    dynamo.save(task, transition(task))
    assert dynamo.list_to_verify(10) == []
    assert list(TaskItem.due_index.query(TO_VERIFY)) == []


def test_a_stale_index_entry_is_not_listed(
    dynamo: DynamoTaskStore,
) -> None:
    """The index lags behind the table: here permanently."""
    item = dynamo._to_item(a_task(due_at=NOW + MINUTE))
    item.due_shard = TO_VERIFY
    item.save()
    assert dynamo.list_to_verify(10) == []


def test_listing_costs_one_query_and_one_batch_read(
    dynamo: DynamoTaskStore, calls: CallInterceptor
) -> None:
    create(dynamo, *(an_unverified_task(n) for n in range(9)))
    operations: list[str] = []

    def record_operation(call: Call) -> None:
        operations.append(call.operation)

    calls.on_aws_call = record_operation
    with attribute_calls_to("me"):
        assert len(dynamo.list_to_verify(4)) == 4
    assert operations == ["Query", "BatchGetItem"]
