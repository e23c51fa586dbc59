"""Blocked tasks in a store: listed, found when their time is up, and out of everybody's way."""

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

DOUBT = Mutation(idempotency_key="k", status=MutationStatus.INDETERMINATE)


def blocked(number: int = 0, **fields: Any) -> Task:
    """The higher its number, the later it was blocked."""
    since = NOW + number * MINUTE
    defaults = {"status": Status.BLOCKED, "recovery_action": Action.ESCALATE_TO_HUMAN}
    times = {"due_at": since - MINUTE, "blocked_at": since, "run": a_run(ended_at=since)}
    task_id = f"{number:08x}-0000-4000-8000-000000000000"
    return an_action(id=task_id, **{**defaults, **times, **fields})


def test_a_blocked_task_is_read_as_it_was_written(store: TaskStore) -> None:
    task = store.create(blocked())
    assert store.get(task.id) == task
    assert task.blocked_at == NOW


def test_since_when_is_kept_only_while_it_is_blocked(dynamo: DynamoTaskStore) -> None:
    task = dynamo.create(blocked())
    dynamo.save(task, user_actions.retry(task, at=NOW))
    [item] = TaskItem.scan()
    assert item.blocked_at is None


def test_all_that_is_blocked_is_listed_longest_first(store: TaskStore) -> None:
    in_doubt = replace(
        a_run(ended_at=NOW), mutation=DOUBT, indeterminate_policy=IndeterminatePolicy.ASK_PERSON
    )
    tasks = [
        blocked(1, recovery_action=Action.AWAIT_FIX),
        blocked(2, recovery_action=Action.ASK_PERSON),
        blocked(3, recovery_action=Action.RETRY_WITH_SPEC_REFRESH),
        blocked(4, run=in_doubt),
        blocked(5),
    ]
    for task in reversed(tasks):
        store.create(task)
    store.create(an_action())
    assert list(store.list_blocked(10)) == tasks
    assert list(store.list_blocked(2)) == tasks[:2]


def test_what_is_blocked_no_more_is_not_listed(store: TaskStore) -> None:
    for number, move in enumerate((user_actions.retry, user_actions.cancel)):
        task = store.create(blocked(number))
        store.save(task, move(task, at=NOW))
    ending = store.create(blocked(2))
    store.save(ending, expire_blocked(ending, at=NOW + 2 * DAY, timeout=DAY))
    assert (list(store.list_blocked(10)), list(store.list_blocked_before(NOW + DAY))) == ([], [])


def test_those_whose_time_is_up_are_found(store: TaskStore) -> None:
    for number in (1, 2, 3):
        store.create(blocked(number))
    found = list(store.list_blocked_before(NOW + 2 * MINUTE))
    assert blocked(1).id in found
    assert blocked(2).id in found
    assert list(store.list_blocked_before(NOW - HOUR)) == []


@pytest.mark.parametrize("action", [Action.AWAIT_FIX, Action.ASK_PERSON])
def test_what_never_times_out_is_not_found(store: TaskStore, action: Action) -> None:
    store.create(blocked(recovery_action=action))
    assert list(store.list_blocked_before(NOW + DAY)) == []


def test_neither_scanner_nor_sweeper_finds_it_due(store: TaskStore) -> None:
    store.create(blocked())
    found = [one for n in range(SHARDS) for one in store.list_due(n, start=None, end=NOW + DAY)]
    assert found == []


def test_a_time_out_is_found_to_the_millisecond(store: TaskStore) -> None:
    task = store.create(blocked(due_at=NOW))
    assert list(store.list_blocked_before(NOW - MILLISECOND)) == []
    assert list(store.list_blocked_before(NOW)) == [task.id]


def test_what_was_to_be_tried_later_is_found_by_when_it_was_blocked(store: TaskStore) -> None:
    """Its retry was twelve hours away when a person said what had happened."""
    busy = Failure.create("slow down", status=429, retry_after=12 * 3600)
    work = {"provider": "scripted", "spec": "x"}
    waiting = fail_task(claim_task(an_action(retry_count=2, payload=work)), busy)
    assert waiting.due_at >= NOW + 12 * HOUR
    at = NOW + MINUTE
    desk = failure_deps(MemoryStore(waiting), clock=ManualClock(at))
    task = store.create(reclassify_task(waiting, "code_error", desk))
    assert (task.status, task.blocked_at) == (Status.BLOCKED, at)
    assert list(store.list_blocked_before(at - MILLISECOND)) == []
    assert list(store.list_blocked_before(at)) == [task.id]
