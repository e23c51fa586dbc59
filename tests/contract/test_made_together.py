"""A task that is made by the write that changes another: both, or neither."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from duecourse.adapters.dynamodb.task_store import DynamoTaskStore
from duecourse.domain import change
from duecourse.domain.errors import StaleTaskError
from duecourse.ports.tasks import TaskStore

from local.calls import Calls, calls_of
from local.faults import Fault, Faults
from tests.contract.conflicts import conflicts
from tests.support.builders.failures import a_subject
from tests.support.builders.moments import NOW
from tests.support.builders.runs import a_run
from tests.support.builders.tasks import ID, a_task
from tests.support.fakes.tasks import MemoryStore

OTHER = "ffffffff-0000-4000-8000-000000000000"
MADE = a_task(id=OTHER, description="made")


@pytest.fixture(params=["dynamo", "memory"])
def either(request: pytest.FixtureRequest, store: DynamoTaskStore) -> TaskStore:
    return store if request.param == "dynamo" else MemoryStore()


def test_both_are_kept(either: TaskStore) -> None:
    task = either.create(a_task())
    after = change.paused(task)
    either.save(task, after, made=MADE)
    assert (either.get(ID), either.get(OTHER)) == (after, MADE)


def test_with_all_that_one_write_can_keep(store: DynamoTaskStore) -> None:
    task = store.create(a_task(subject="story-1"))
    after = change.paused(task)
    store.save(task, after, subject=a_subject(version=1), ended=a_run(ended_at=NOW), made=MADE)
    assert (store.get(ID), store.get(OTHER)) == (after, MADE)


def test_where_the_task_has_moved_on_nothing_is_made(either: TaskStore) -> None:
    task = either.create(a_task())
    either.save(task, change.cancelled(task, at=NOW))
    with pytest.raises(StaleTaskError):
        either.save(task, change.paused(task), made=MADE)
    assert list(either.find(OTHER)) == []


def test_where_it_is_there_already_nothing_is_changed(either: TaskStore) -> None:
    there = either.create(a_task(id=OTHER, description="there before"))
    task = either.create(a_task())
    with pytest.raises(StaleTaskError):
        either.save(task, change.paused(task), made=MADE)
    assert (either.get(ID), either.get(OTHER)) == (task, there)


def test_where_somebody_else_writes_at_the_same_moment_neither_is_kept(
    store: DynamoTaskStore,
) -> None:
    """Never the one without the other."""
    task = store.create(a_task())
    with conflicts(1), pytest.raises(StaleTaskError):
        store.save(task, change.paused(task), made=MADE)
    assert store.get(ID) == task
    assert list(store.find(OTHER)) == []


def _before(store: DynamoTaskStore) -> None:
    """Nobody else did anything."""


def _changed_since(store: DynamoTaskStore) -> None:
    store.save(MADE, change.paused(MADE))


@pytest.mark.parametrize("meanwhile", [_before, _changed_since])
def test_a_write_whose_answer_was_lost_is_known_as_ones_own(
    store: DynamoTaskStore,
    faults: Faults,
    calls: Calls,
    meanwhile: Callable[[DynamoTaskStore], None],
) -> None:
    """Whatever has become of what it made."""
    task = store.create(a_task())
    faults.add(Fault("dynamodb.TransactWriteItems", function="me", when="after", kind="timeout"))

    def somebody_else(_call: object) -> None:
        calls.watch = None
        with calls_of("somebody else"):
            meanwhile(store)

    calls.watch = somebody_else
    after = change.paused(task)
    with calls_of("me"):
        store.save(task, after, made=MADE)
    assert store.get(ID) == after
    assert store.get(OTHER).description == "made"
