"""Items written by migration 005 load with safe defaults and can be saved once."""

from __future__ import annotations

import json
from typing import Any

import boto3
import pytest
from duecourse.adapters.aws.dynamodb.task_store import DynamoTaskStore
from duecourse.domain.dispatch.timing import Dispatch
from duecourse.domain.errors import StaleTaskError, UnreadableItemError
from duecourse.domain.lifecycle import user_actions
from duecourse.domain.requests.task_filter import TaskFilter
from duecourse.domain.tasks.owner import Owner
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import ReviewLink, Task
from duecourse.domain.tasks.task_edit import TaskEdit
from duecourse.domain.tasks.wait import Wait, WaitReason

from tests.contract.conftest import SHARDS
from tests.support.builders.moments import DAY, NOW, parse_instant
from tests.support.builders.tasks import ID, a_task, claim_task

OTHER_ID = "ffffffff-0000-4000-8000-000000000000"
DUE_AT = parse_instant("2026-02-17T15:00Z")


def put_old_task(**fields: str) -> None:
    item: dict[str, Any] = {
        "short_id": ID[:8],
        "id": ID,
        "channel": "console",
        "sender_id": "ada",
        "reply_target": "ada",
        "description": "stretch",
        "due_at": "2026-02-17T15:00:00",
        "repeat": "once",
        "status": "pending",
        "created_at": "2026-02-17T14:00:00",
        **fields,
    }
    attributes = {name: {"S": value} for name, value in item.items()}
    boto3.client("dynamodb").put_item(TableName="TasksTable", Item=attributes)


def test_an_old_task_loads_with_safe_defaults(dynamo: DynamoTaskStore) -> None:
    put_old_task()
    created_at = parse_instant("2026-02-17T14:00Z")
    assert dynamo.get(ID) == a_task(due_at=DUE_AT, created_at=created_at, version=0)


@pytest.mark.parametrize("text", ["2026-02-17 14:00:00", "2026-02-17T14:00:00"])
def test_an_old_time_is_utc(dynamo: DynamoTaskStore, text: str) -> None:
    put_old_task(created_at=text)
    assert dynamo.get(ID).created_at == parse_instant("2026-02-17T14:00Z")


def test_an_old_daily_task_recurs_daily(dynamo: DynamoTaskStore) -> None:
    put_old_task(repeat="daily")
    series = dynamo.get(ID).series
    assert series is not None
    assert series.next_after(DUE_AT) == DUE_AT + DAY


@pytest.mark.parametrize("status", ["pending", "delivered", "failed", "cancelled"])
def test_an_old_status_is_kept(dynamo: DynamoTaskStore, status: str) -> None:
    put_old_task(status=status)
    assert dynamo.get(ID).status is Status(status)


def test_an_old_recovery_action_is_kept(dynamo: DynamoTaskStore) -> None:
    put_old_task(status="blocked", recovery_action="ask_person")
    assert dynamo.get(ID).recovery_action is Action.ASK_PERSON


def test_an_unknown_recovery_action_is_refused(dynamo: DynamoTaskStore) -> None:
    put_old_task(status="blocked", recovery_action="pray")
    with pytest.raises(UnreadableItemError, match="recovery_action"):
        dynamo.get(ID)


def test_an_old_task_is_found_by_an_id_prefix(dynamo: DynamoTaskStore) -> None:
    put_old_task()
    assert [task.id for task in dynamo.find(ID[:8])] == [ID]


def test_an_old_task_can_be_saved(dynamo: DynamoTaskStore) -> None:
    put_old_task()
    paused = user_actions.pause(dynamo.get(ID))
    dynamo.save(dynamo.get(ID), paused)
    assert (dynamo.get(ID), paused.version) == (paused, 1)


def test_one_of_two_concurrent_saves_of_an_old_task_wins(dynamo: DynamoTaskStore) -> None:
    put_old_task()
    old = dynamo.get(ID)
    dynamo.save(old, claim_task(old, "one"))
    with pytest.raises(StaleTaskError):
        dynamo.save(old, claim_task(old, "two"))
    assert dynamo.get(ID) == claim_task(old, "one")


def test_saving_a_deleted_old_task_does_not_restore_it(dynamo: DynamoTaskStore) -> None:
    old = a_task(version=0)
    with pytest.raises(StaleTaskError):
        dynamo.save(old, user_actions.pause(old))
    assert dynamo.find(ID) == []


# Links that older code stored in the payload


def load_with_payload(payload: Any, **fields: str) -> Task:
    put_old_task(payload=json.dumps(payload), **fields)
    return DynamoTaskStore(shard_count=SHARDS, retention=DAY).get(ID)


@pytest.mark.parametrize("fields", [{}, {"type": "reminder"}, {"created_by": "slack:U1"}])
def test_a_snooze_keeps_its_link(fields: dict[str, str]) -> None:
    task = load_with_payload({"snooze_of": OTHER_ID}, **fields)
    assert (task.snooze_of, task.payload) == (OTHER_ID, {})


@pytest.mark.parametrize("spec", [None, "a page of words"])
def test_a_review_keeps_its_link(spec: str | None) -> None:
    link = {"of": OTHER_ID, "after_attempts": 3} | ({"spec": spec} if spec else {})
    task = load_with_payload({"provider": "a", "spec_review": link}, type="action", created_by="ci")
    assert (task.review, task.payload) == (ReviewLink(OTHER_ID, 3, spec), {"provider": "a"})


@pytest.mark.parametrize(
    ("payload", "fields"),
    [
        ({"snooze_of": OTHER_ID}, {"created_by": "ci"}),
        ({"snooze_of": OTHER_ID}, {"type": "action"}),
        ({"snooze_of": ""}, {}),
        ({"snooze_of": "everything"}, {}),
        ({"snooze_of": [OTHER_ID]}, {}),
        ({"spec_review": {"of": OTHER_ID}}, {}),
        ({"spec_review": {"of": OTHER_ID}}, {"type": "lights"}),
        ({"spec_review": {"of": 5}}, {"type": "action"}),
        ({"spec_review": "nonsense"}, {"type": "action"}),
    ],
)
def test_an_invalid_link_stays_in_the_payload(
    payload: dict[str, Any], fields: dict[str, str]
) -> None:
    task = load_with_payload(payload, **fields)
    assert (task.snooze_of, task.review, task.payload) == (None, None, payload)


def test_a_link_read_from_a_payload_is_saved_as_a_field(dynamo: DynamoTaskStore) -> None:
    old = load_with_payload({"snooze_of": OTHER_ID})
    dynamo.save(old, user_actions.edit(old, TaskEdit(payload={"repeat_is_harmless": True})))
    task = dynamo.get(ID)
    assert (task.snooze_of, task.payload) == (OTHER_ID, {"repeat_is_harmless": True})


def load_and_save(dynamo: DynamoTaskStore) -> Task:
    put_old_task(created_at="2026-02-17 14:00:00")
    old = dynamo.get(ID)
    after = user_actions.edit(old, TaskEdit(description="walk"))
    dynamo.save(old, after)
    return after


def test_a_saved_old_task_is_listed_when_due(dynamo: DynamoTaskStore) -> None:
    load_and_save(dynamo)
    shard = int(ID[:8], 16) % SHARDS
    assert list(dynamo.list_due(shard, start=NOW, end=NOW + DAY)) == [Dispatch(DUE_AT, ID)]


def test_a_saved_old_task_is_listed_for_its_sender(dynamo: DynamoTaskStore) -> None:
    task = load_and_save(dynamo)
    assert dynamo.list_open(Owner("console", "ada")) == [task]


def test_a_saved_old_task_is_listed_on_one_page(dynamo: DynamoTaskStore) -> None:
    task = load_and_save(dynamo)
    first_page = dynamo.list_page(TaskFilter(), limit=1, cursor=None, now=NOW)
    second_page = dynamo.list_page(TaskFilter(), limit=1, cursor=first_page.next_cursor, now=NOW)
    assert [*first_page.items, *second_page.items] == [task]


def test_an_old_wait_text_is_read_as_a_wait_reason(dynamo: DynamoTaskStore) -> None:
    put_old_task(waits_for="quiet hours until 07:00 (UTC)")
    old = dynamo.get(ID)
    assert old.wait == Wait(WaitReason.QUIET_HOURS, detail={"end": "07:00", "zone": "UTC"})
    dynamo.save(old, user_actions.pause(old))
    assert dynamo.get(ID) == user_actions.pause(old)


def test_an_old_task_awaiting_verification_has_no_pending_retry(dynamo: DynamoTaskStore) -> None:
    """Older code stored the deadline as `next_retry_at`, for an index."""
    put_old_task(
        waits_for="somebody to say whether it was done well",
        status="pending_verification",
        retry_lane="to_verify",
        next_retry_at="2026-02-17T15:00:00.000Z",
    )
    task = dynamo.get(ID)
    assert (task.status, task.next_retry_at) == (Status.PENDING_VERIFICATION, None)
