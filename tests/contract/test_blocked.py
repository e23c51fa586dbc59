"""Blocked tasks in a store: listed, found when they time out, and never due."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from duecourse.adapters.aws.dynamodb.models import TaskItem
from duecourse.adapters.aws.dynamodb.task_store import DynamoTaskStore
from duecourse.domain.failures.failure import Failure
from duecourse.domain.lifecycle import user_actions
from duecourse.domain.lifecycle.blocked_outcome import expire_blocked
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run import IndeterminatePolicy, Mutation, MutationStatus
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.ports.tasks import TaskStore
from duecourse.usecases.failures.reclassify_task import reclassify_task

from tests.contract.conftest import SHARDS
from tests.support.builders.failures import fail_task
from tests.support.builders.moments import DAY, HOUR, MILLISECOND, MINUTE, NOW
from tests.support.builders.runs import a_run
from tests.support.builders.tasks import an_action, claim_task
from tests.support.failure_deps import failure_deps
from tests.support.fakes.clock import ManualClock
from tests.support.fakes.tasks import MemoryStore

INDETERMINATE = Mutation(idempotency_key="k", status=MutationStatus.INDETERMINATE)


def a_blocked_task(number: int = 0, **fields: Any) -> Task:
    """Return a blocked task; a higher number means blocked later."""
    since = NOW + number * MINUTE
    defaults = {"status": Status.BLOCKED, "recovery_action": Action.ESCALATE_TO_HUMAN}
    times = {"due_at": since - MINUTE, "blocked_at": since, "run": a_run(ended_at=since)}
    task_id = f"{number:08x}-0000-4000-8000-000000000000"
    return an_action(id=task_id, **{**defaults, **times, **fields})


def test_a_blocked_task_is_read_as_it_was_written(store: TaskStore) -> None:
    task = store.create(a_blocked_task())
    assert store.get(task.id) == task
    assert task.blocked_at == NOW


def test_blocked_at_is_removed_when_a_task_is_unblocked(dynamo: DynamoTaskStore) -> None:
    task = dynamo.create(a_blocked_task())
    dynamo.save(task, user_actions.retry(task, at=NOW))
    [item] = TaskItem.scan()
    assert item.blocked_at is None


def test_all_blocked_tasks_are_listed_longest_blocked_first(store: TaskStore) -> None:
    indeterminate_run = replace(
        a_run(ended_at=NOW),
        mutation=INDETERMINATE,
        indeterminate_policy=IndeterminatePolicy.ASK_PERSON,
    )
    tasks = [
        a_blocked_task(1, recovery_action=Action.AWAIT_FIX),
        a_blocked_task(2, recovery_action=Action.ASK_PERSON),
        a_blocked_task(3, recovery_action=Action.RETRY_WITH_SPEC_REFRESH),
        a_blocked_task(4, run=indeterminate_run),
        a_blocked_task(5),
    ]
    for task in reversed(tasks):
        store.create(task)
    store.create(an_action())
    assert list(store.list_blocked(10)) == tasks
    assert list(store.list_blocked(2)) == tasks[:2]


def test_a_task_that_is_no_longer_blocked_is_not_listed(store: TaskStore) -> None:
    for number, transition in enumerate((user_actions.retry, user_actions.cancel)):
        task = store.create(a_blocked_task(number))
        store.save(task, transition(task, at=NOW))
    expiring = store.create(a_blocked_task(2))
    store.save(expiring, expire_blocked(expiring, at=NOW + 2 * DAY, timeout=DAY))
    assert (list(store.list_blocked(10)), list(store.list_blocked_before(NOW + DAY))) == ([], [])


def test_tasks_blocked_before_an_instant_are_found(store: TaskStore) -> None:
    for number in (1, 2, 3):
        store.create(a_blocked_task(number))
    expired = list(store.list_blocked_before(NOW + 2 * MINUTE))
    assert a_blocked_task(1).id in expired
    assert a_blocked_task(2).id in expired
    assert list(store.list_blocked_before(NOW - HOUR)) == []


@pytest.mark.parametrize("action", [Action.AWAIT_FIX, Action.ASK_PERSON])
def test_a_blocked_task_without_a_timeout_is_not_found(store: TaskStore, action: Action) -> None:
    store.create(a_blocked_task(recovery_action=action))
    assert list(store.list_blocked_before(NOW + DAY)) == []


def test_a_blocked_task_is_not_due(store: TaskStore) -> None:
    store.create(a_blocked_task())
    due = [
        dispatch for n in range(SHARDS) for dispatch in store.list_due(n, start=None, end=NOW + DAY)
    ]
    assert due == []


def test_a_timeout_is_exact_to_the_millisecond(store: TaskStore) -> None:
    task = store.create(a_blocked_task(due_at=NOW))
    assert list(store.list_blocked_before(NOW - MILLISECOND)) == []
    assert list(store.list_blocked_before(NOW)) == [task.id]


def test_a_reclassified_retry_times_out_by_its_blocked_at(store: TaskStore) -> None:
    """Its retry was twelve hours away when a person reclassified it."""
    busy = Failure.create("slow down", status=429, retry_after=12 * 3600)
    payload = {"provider": "scripted", "spec": "x"}
    retrying = fail_task(claim_task(an_action(retry_count=2, payload=payload)), busy)
    assert retrying.due_at >= NOW + 12 * HOUR
    at = NOW + MINUTE
    deps = failure_deps(MemoryStore(retrying), clock=ManualClock(at))
    task = store.create(reclassify_task(retrying, "code_error", deps))
    assert (task.status, task.blocked_at) == (Status.BLOCKED, at)
    assert list(store.list_blocked_before(at - MILLISECOND)) == []
    assert list(store.list_blocked_before(at)) == [task.id]
