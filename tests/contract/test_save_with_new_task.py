"""A save that also creates another task: both are written, or neither."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from duecourse.adapters.aws.dynamodb.task_store import DynamoTaskStore
from duecourse.domain.errors import StaleTaskError
from duecourse.domain.lifecycle import user_actions
from duecourse.ports.tasks import TaskStore

from local.runtime.call_interceptor import CallInterceptor, attribute_calls_to
from local.testing.faults import Fault, Faults
from tests.contract.conflicts import simulate_conflicts
from tests.support.builders.failures import a_subject
from tests.support.builders.moments import NOW
from tests.support.builders.tasks import ID, a_task

NEW_ID = "ffffffff-0000-4000-8000-000000000000"
NEW_TASK = a_task(id=NEW_ID, description="made")


def test_a_save_creates_the_new_task(store: TaskStore) -> None:
    task = store.create(a_task())
    after = user_actions.pause(task)
    store.save(task, after, new_task=NEW_TASK)
    assert (store.get(ID), store.get(NEW_ID)) == (after, NEW_TASK)


def test_a_save_writes_subject_and_new_task_together(store: TaskStore) -> None:
    task = store.create(a_task(subject="story-1"))
    after = user_actions.pause(task)
    store.save(task, after, subject=a_subject(version=1), new_task=NEW_TASK)
    assert (store.get(ID), store.get(NEW_ID)) == (after, NEW_TASK)


def test_a_stale_save_creates_no_task(store: TaskStore) -> None:
    task = store.create(a_task())
    store.save(task, user_actions.cancel(task, at=NOW))
    with pytest.raises(StaleTaskError):
        store.save(task, user_actions.pause(task), new_task=NEW_TASK)
    assert list(store.find(NEW_ID)) == []


def test_an_existing_id_makes_the_save_stale(store: TaskStore) -> None:
    existing = store.create(a_task(id=NEW_ID, description="there before"))
    task = store.create(a_task())
    with pytest.raises(StaleTaskError):
        store.save(task, user_actions.pause(task), new_task=NEW_TASK)
    assert (store.get(ID), store.get(NEW_ID)) == (task, existing)


def test_a_conflict_writes_neither_task(
    dynamo: DynamoTaskStore,
) -> None:
    """The task is unchanged and the new one does not exist."""
    task = dynamo.create(a_task())
    with simulate_conflicts(1), pytest.raises(StaleTaskError):
        dynamo.save(task, user_actions.pause(task), new_task=NEW_TASK)
    assert dynamo.get(ID) == task
    assert list(dynamo.find(NEW_ID)) == []


def _do_nothing(store: DynamoTaskStore) -> None:
    """No concurrent change."""


def _change_new_task(store: DynamoTaskStore) -> None:
    store.save(NEW_TASK, user_actions.pause(NEW_TASK))


@pytest.mark.parametrize("meanwhile", [_do_nothing, _change_new_task])
def test_a_save_whose_response_was_lost_is_recognized(
    dynamo: DynamoTaskStore,
    faults: Faults,
    calls: CallInterceptor,
    meanwhile: Callable[[DynamoTaskStore], None],
) -> None:
    """It is recognized even if the new task has changed since."""
    task = dynamo.create(a_task())
    faults.add(Fault("dynamodb.TransactWriteItems", function="me", when="after", kind="timeout"))

    def change_concurrently(_call: object) -> None:
        calls.on_aws_call = None
        with attribute_calls_to("somebody else"):
            meanwhile(dynamo)

    calls.on_aws_call = change_concurrently
    after = user_actions.pause(task)
    with attribute_calls_to("me"):
        dynamo.save(task, after, new_task=NEW_TASK)
    assert dynamo.get(ID) == after
    assert dynamo.get(NEW_ID).description == "made"
