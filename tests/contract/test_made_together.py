"""A task that is made by the write that changes another: both, or neither."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from duecourse.adapters.aws.dynamodb.task_store import DynamoTaskStore
from duecourse.domain.errors import StaleTaskError
from duecourse.domain.lifecycle import user_actions
from duecourse.ports.tasks import TaskStore

from local.runtime.call_interceptor import CallInterceptor, attribute_calls_to
from local.testing.faults import Fault, Faults
from tests.contract.conflicts import conflicts
from tests.support.builders.failures import a_subject
from tests.support.builders.moments import NOW
from tests.support.builders.runs import a_run
from tests.support.builders.tasks import ID, a_task

OTHER = "ffffffff-0000-4000-8000-000000000000"
MADE = a_task(id=OTHER, description="made")


def test_both_are_kept(store: TaskStore) -> None:
    task = store.create(a_task())
    after = user_actions.pause(task)
    store.save(task, after, new_task=MADE)
    assert (store.get(ID), store.get(OTHER)) == (after, MADE)


def test_with_all_that_one_write_can_keep(store: TaskStore) -> None:
    task = store.create(a_task(subject="story-1"))
    after = user_actions.pause(task)
    store.save(
        task, after, subject=a_subject(version=1), ended_run=a_run(ended_at=NOW), new_task=MADE
    )
    assert (store.get(ID), store.get(OTHER)) == (after, MADE)


def test_where_the_task_has_moved_on_nothing_is_made(store: TaskStore) -> None:
    task = store.create(a_task())
    store.save(task, user_actions.cancel(task, at=NOW))
    with pytest.raises(StaleTaskError):
        store.save(task, user_actions.pause(task), new_task=MADE)
    assert list(store.find(OTHER)) == []


def test_where_it_is_there_already_nothing_is_changed(store: TaskStore) -> None:
    there = store.create(a_task(id=OTHER, description="there before"))
    task = store.create(a_task())
    with pytest.raises(StaleTaskError):
        store.save(task, user_actions.pause(task), new_task=MADE)
    assert (store.get(ID), store.get(OTHER)) == (task, there)


def test_where_somebody_else_writes_at_the_same_moment_neither_is_kept(
    dynamo: DynamoTaskStore,
) -> None:
    """Never the one without the other."""
    task = dynamo.create(a_task())
    with conflicts(1), pytest.raises(StaleTaskError):
        dynamo.save(task, user_actions.pause(task), new_task=MADE)
    assert dynamo.get(ID) == task
    assert list(dynamo.find(OTHER)) == []


def _before(store: DynamoTaskStore) -> None:
    """Nobody else did anything."""


def _changed_since(store: DynamoTaskStore) -> None:
    store.save(MADE, user_actions.pause(MADE))


@pytest.mark.parametrize("meanwhile", [_before, _changed_since])
def test_a_write_whose_answer_was_lost_is_known_as_ones_own(
    dynamo: DynamoTaskStore,
    faults: Faults,
    calls: CallInterceptor,
    meanwhile: Callable[[DynamoTaskStore], None],
) -> None:
    """Whatever has become of what it made."""
    task = dynamo.create(a_task())
    faults.add(Fault("dynamodb.TransactWriteItems", function="me", when="after", kind="timeout"))

    def somebody_else(_call: object) -> None:
        calls.on_aws_call = None
        with attribute_calls_to("somebody else"):
            meanwhile(dynamo)

    calls.on_aws_call = somebody_else
    after = user_actions.pause(task)
    with attribute_calls_to("me"):
        dynamo.save(task, after, new_task=MADE)
    assert dynamo.get(ID) == after
    assert dynamo.get(OTHER).description == "made"
