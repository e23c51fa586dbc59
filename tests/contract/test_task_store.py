"""The task store: one of two concurrent writers wins, no write is lost or applied twice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import boto3
import pytest
from duecourse.adapters.aws.dynamodb.task_store import DynamoTaskStore
from duecourse.domain.errors import StaleTaskError, UnknownTaskError
from duecourse.domain.lifecycle import run_transitions, user_actions
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.skipped import SkippedOccurrences, SkipReason
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import ReviewLink, Task
from duecourse.ports.tasks import TaskStore
from pynamodb.exceptions import PutError

from local.runtime.call_interceptor import Call, CallInterceptor, attribute_calls_to
from local.testing.faults import Fault, Faults
from tests.support.builders.failures import fail_task
from tests.support.builders.moments import DAY, HOUR, NOW
from tests.support.builders.tasks import ID, a_requested_task, a_task, claim_task

SIBLING = ID[:-1] + "1"  # shares all but its last character
OTHER_ID = "ffffffff-0000-4000-8000-000000000000"


def item_of(task_id: str) -> dict[str, Any]:
    key = {"short_id": {"S": task_id[:8]}, "id": {"S": task_id}}
    response: dict[str, Any] = boto3.client("dynamodb").get_item(TableName="TasksTable", Key=key)
    return dict(response["Item"])


# Create, get, find


def test_a_created_task_is_read_unchanged(store: TaskStore) -> None:
    task = store.create(a_task(payload={"a": [1, None, 0.5]}, subject="story-1"))
    assert store.get(ID) == task


@pytest.mark.parametrize(
    "task",
    [
        claim_task(a_task()),
        fail_task(claim_task(a_task())),
        run_transitions.commit(claim_task(a_task()), {"ts": 1}, at=NOW),
        a_task(repeat="monthly", anchor=a_task(due_at=NOW - 17 * DAY).anchor, paused=True),
        a_task(
            skipped=SkippedOccurrences(3, SkipReason.PAUSED),
            guidance=("look", "here"),
            request_hash="abc",
        ),
        a_task(
            status=Status.BLOCKED, recovery_action=Action.ESCALATE_TO_HUMAN, failed_occurrences=2
        ),
        a_task(snooze_of=OTHER_ID),
        a_task(type="action", review=ReviewLink(OTHER_ID)),
        a_task(type="action", review=ReviewLink(OTHER_ID, 3, {"rules": [None]})),
    ],
    ids=[
        *("running", "retrying", "delivered", "series", "skipped", "blocked"),
        *("snooze", "review", "review with its specification"),
    ],
)
def test_a_task_in_any_state_is_read_unchanged(store: TaskStore, task: Task) -> None:
    store.create(task)
    assert store.get(ID) == task


def test_creating_an_existing_id_returns_the_stored_task(store: TaskStore) -> None:
    first = store.create(a_task(description="first"))
    assert store.create(a_task(description="second")) == first


def test_creating_an_existing_id_writes_nothing(store: TaskStore) -> None:
    first = store.create(a_task(description="first"))
    store.create(a_task(description="second"))
    assert store.get(ID) == first


def test_a_peek_finds_a_task_or_nothing(store: TaskStore) -> None:
    task = store.create(a_task())
    assert store.peek(task.id) == task
    assert store.peek("0a1b2c3d-0000-4000-8000-00000000ffff") is None


def test_an_unknown_id_raises(store: TaskStore) -> None:
    with pytest.raises(UnknownTaskError, match=ID):
        store.get(ID)


@pytest.mark.parametrize("length", [8, 9, 13, 35])
def test_a_task_is_found_by_an_id_prefix(store: TaskStore, length: int) -> None:
    task = store.create(a_task(id=ID))
    store.create(a_task(id=OTHER_ID))
    assert store.find(ID[:length]) == [task]


def test_all_tasks_with_the_prefix_are_found(store: TaskStore) -> None:
    for task_id in (ID, SIBLING):
        store.create(a_task(id=task_id))
    assert [task.id for task in store.find(ID[:35])] == [ID, SIBLING]


def test_a_full_id_finds_only_its_task(store: TaskStore) -> None:
    for task_id in (ID, SIBLING):
        store.create(a_task(id=task_id))
    assert [task.id for task in store.find(SIBLING)] == [SIBLING]


def test_an_unknown_prefix_finds_nothing(store: TaskStore) -> None:
    store.create(a_task(id=ID))
    assert store.find("0a1b2c3d-1") == []


# Save


def test_a_saved_task_replaces_the_earlier_version(store: TaskStore) -> None:
    task = store.create(a_task())
    paused = user_actions.pause(task)
    store.save(task, paused)
    assert store.get(ID) == paused


def test_saving_against_an_old_version_raises_and_writes_nothing(store: TaskStore) -> None:
    old = store.create(a_task())
    paused = user_actions.pause(old)
    store.save(old, paused)
    with pytest.raises(StaleTaskError, match=ID):
        store.save(old, user_actions.cancel(old, at=NOW))
    assert store.get(ID) == paused


def test_two_saves_from_one_version_have_one_winner(store: TaskStore) -> None:
    task = store.create(a_task())
    outcomes = []
    for owner in ("one", "two"):
        try:
            store.save(task, claim_task(task, owner))
            outcomes.append("won")
        except StaleTaskError:
            outcomes.append("lost")
    assert (outcomes, store.get(ID)) == (["won", "lost"], claim_task(task, "one"))


def test_saving_a_deleted_task_raises_and_does_not_restore_it(
    store: TaskStore,
) -> None:
    task = a_task()
    with pytest.raises(StaleTaskError):
        store.save(task, user_actions.pause(task))
    assert store.find(ID) == []


# Lost responses: the write took effect, but the caller got no response


@pytest.fixture
def lost_response(faults: Faults, calls: CallInterceptor) -> CallInterceptor:
    """The first write of `me` takes effect without a response; botocore resends it."""
    faults.add(Fault("dynamodb.PutItem", function="me", when="after", kind="timeout"))
    return calls


def test_a_create_whose_response_was_lost_is_recognized(
    dynamo: DynamoTaskStore, lost_response: CallInterceptor
) -> None:
    with attribute_calls_to("me"):
        task = dynamo.create(a_task())
    assert (task, dynamo.get(ID), lost_response.counts["me", "dynamodb.PutItem"]) == (
        *(a_task(), a_task(), 2),
    )


def test_a_save_whose_response_was_lost_is_recognized_and_applied_once(
    dynamo: DynamoTaskStore, lost_response: CallInterceptor
) -> None:
    task = dynamo.create(a_task())
    own_change = claim_task(task, "me")
    with attribute_calls_to("me"):
        dynamo.save(task, own_change)
    assert (dynamo.get(ID), lost_response.counts["me", "dynamodb.PutItem"]) == (own_change, 2)


def test_a_save_whose_response_was_lost_is_stale_after_a_concurrent_change(
    dynamo: DynamoTaskStore, lost_response: CallInterceptor
) -> None:
    task = dynamo.create(a_task())
    own_change = user_actions.pause(task)
    concurrent_change = user_actions.resume(own_change, at=NOW)

    def change_concurrently(_call: Call) -> None:
        lost_response.on_aws_call = None
        with attribute_calls_to("somebody else"):
            dynamo.save(own_change, concurrent_change)

    lost_response.on_aws_call = change_concurrently
    with attribute_calls_to("me"), pytest.raises(StaleTaskError):
        dynamo.save(task, own_change)
    assert dynamo.get(ID) == concurrent_change


@pytest.mark.usefixtures("lost_response")
def test_a_create_at_a_skipped_wall_time_is_recognized(dynamo: DynamoTaskStore) -> None:
    task = a_requested_task(due_at="2026-03-29T02:30", timezone="Europe/Berlin")
    with attribute_calls_to("me"):
        assert dynamo.create(task) == task


def test_a_write_that_never_gets_a_response_raises_its_error(
    dynamo: DynamoTaskStore,
    faults: Faults,
    calls: CallInterceptor,  # noqa: ARG001 - installed
) -> None:
    faults.add(Fault("dynamodb.PutItem", function="me", kind="timeout", times=100))
    with attribute_calls_to("me"), pytest.raises(PutError, match="Read timeout"):
        dynamo.create(a_task())


# Expiry


@pytest.mark.parametrize("status", [status for status in Status if a_task(status=status).is_open])
def test_an_open_task_never_expires(dynamo: DynamoTaskStore, status: Status) -> None:
    dynamo.create(a_task(status=status))
    assert "expires_at" not in item_of(ID)


def test_a_closed_task_expires_after_the_retention(dynamo: DynamoTaskStore) -> None:
    dynamo.create(run_transitions.commit(claim_task(a_task()), None, at=NOW + HOUR))
    assert int(item_of(ID)["expires_at"]["N"]) == (NOW + HOUR + 30 * DAY).timestamp()


def test_a_retried_task_no_longer_expires(dynamo: DynamoTaskStore) -> None:
    failed = dynamo.create(replace(a_task(), status=Status.FAILED))
    dynamo.save(failed, failed.move_to(Status.PENDING))
    assert "expires_at" not in item_of(ID)


# Delete


def test_a_deleted_task_is_unknown(store: TaskStore) -> None:
    task = store.create(a_task())

    store.delete(task)
    store.delete(task)

    with pytest.raises(UnknownTaskError):
        store.get(ID)


def test_a_task_that_has_changed_is_not_deleted(store: TaskStore) -> None:
    before = store.create(a_task())
    after = claim_task(before)
    store.save(before, after)

    with pytest.raises(StaleTaskError):
        store.delete(before)

    assert store.get(ID) == after
