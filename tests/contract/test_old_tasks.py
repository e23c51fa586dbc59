"""Items as migration 005 wrote them: they load with safe defaults and can be saved, once."""

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

OTHER = "ffffffff-0000-4000-8000-000000000000"
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
    stored = {name: {"S": value} for name, value in item.items()}
    boto3.client("dynamodb").put_item(TableName="TasksTable", Item=stored)


def test_an_old_task_loads_with_safe_defaults(dynamo: DynamoTaskStore) -> None:
    put_old_task()
    created_at = parse_instant("2026-02-17T14:00Z")
    assert dynamo.get(ID) == a_task(due_at=DUE_AT, created_at=created_at, version=0)


@pytest.mark.parametrize("text", ["2026-02-17 14:00:00", "2026-02-17T14:00:00"])
def test_an_old_time_is_utc(dynamo: DynamoTaskStore, text: str) -> None:
    put_old_task(created_at=text)
    assert dynamo.get(ID).created_at == parse_instant("2026-02-17T14:00Z")


def test_an_old_daily_task_goes_on_every_day(dynamo: DynamoTaskStore) -> None:
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


def test_a_recovery_action_that_nobody_knows_is_refused(dynamo: DynamoTaskStore) -> None:
    put_old_task(status="blocked", recovery_action="pray")
    with pytest.raises(UnreadableItemError, match="recovery_action"):
        dynamo.get(ID)


def test_an_old_task_is_found_by_the_beginning_of_its_id(dynamo: DynamoTaskStore) -> None:
    put_old_task()
    assert [task.id for task in dynamo.find(ID[:8])] == [ID]


def test_an_old_task_can_be_saved(dynamo: DynamoTaskStore) -> None:
    put_old_task()
    paused = user_actions.pause(dynamo.get(ID))
    dynamo.save(dynamo.get(ID), paused)
    assert (dynamo.get(ID), paused.version) == (paused, 1)


def test_an_old_task_is_saved_by_one_of_two_only(dynamo: DynamoTaskStore) -> None:
    put_old_task()
    old = dynamo.get(ID)
    dynamo.save(old, claim_task(old, "one"))
    with pytest.raises(StaleTaskError):
        dynamo.save(old, claim_task(old, "two"))
    assert dynamo.get(ID) == claim_task(old, "one")


def test_an_old_task_that_is_gone_is_not_brought_back(dynamo: DynamoTaskStore) -> None:
    old = a_task(version=0)
    with pytest.raises(StaleTaskError):
        dynamo.save(old, user_actions.pause(old))
    assert dynamo.find(ID) == []


# Links, which were kept in the payload


def linked(payload: Any, **fields: str) -> Task:
    put_old_task(payload=json.dumps(payload), **fields)
    return DynamoTaskStore(shard_count=SHARDS, retention=DAY).get(ID)


@pytest.mark.parametrize("made", [{}, {"type": "reminder"}, {"created_by": "slack:U1"}])
def test_a_snooze_keeps_its_link(made: dict[str, str]) -> None:
    task = linked({"snooze_of": OTHER}, **made)
    assert (task.snooze_of, task.payload) == (OTHER, {})


@pytest.mark.parametrize("spec", [None, "a page of words"])
def test_a_review_keeps_its_link(spec: str | None) -> None:
    link = {"of": OTHER, "after_attempts": 3} | ({"spec": spec} if spec else {})
    task = linked({"provider": "a", "spec_review": link}, type="action", created_by="ci")
    assert (task.review, task.payload) == (ReviewLink(OTHER, 3, spec), {"provider": "a"})


@pytest.mark.parametrize(
    ("payload", "fields"),
    [
        ({"snooze_of": OTHER}, {"created_by": "ci"}),
        ({"snooze_of": OTHER}, {"type": "action"}),
        ({"snooze_of": ""}, {}),
        ({"snooze_of": "everything"}, {}),
        ({"snooze_of": [OTHER]}, {}),
        ({"spec_review": {"of": OTHER}}, {}),
        ({"spec_review": {"of": OTHER}}, {"type": "lights"}),
        ({"spec_review": {"of": 5}}, {"type": "action"}),
        ({"spec_review": "nonsense"}, {"type": "action"}),
    ],
)
def test_what_only_looks_like_a_link_stays_in_the_payload(
    payload: dict[str, Any], fields: dict[str, str]
) -> None:
    task = linked(payload, **fields)
    assert (task.snooze_of, task.review, task.payload) == (None, None, payload)


def test_a_link_that_was_read_from_a_payload_is_saved_beside_it(dynamo: DynamoTaskStore) -> None:
    old = linked({"snooze_of": OTHER})
    dynamo.save(old, user_actions.edit(old, TaskEdit(payload={"repeat_is_harmless": True})))
    task = dynamo.get(ID)
    assert (task.snooze_of, task.payload) == (OTHER, {"repeat_is_harmless": True})


def saved_anew(dynamo: DynamoTaskStore) -> Task:
    put_old_task(created_at="2026-02-17 14:00:00")
    old = dynamo.get(ID)
    after = user_actions.edit(old, TaskEdit(description="walk"))
    dynamo.save(old, after)
    return after


def test_an_old_task_once_saved_is_found_when_due(dynamo: DynamoTaskStore) -> None:
    saved_anew(dynamo)
    shard = int(ID[:8], 16) % SHARDS
    assert list(dynamo.list_due(shard, start=NOW, end=NOW + DAY)) == [Dispatch(DUE_AT, ID)]


def test_an_old_task_once_saved_is_in_its_senders_list(dynamo: DynamoTaskStore) -> None:
    saved = saved_anew(dynamo)
    assert dynamo.list_open(Owner("console", "ada")) == [saved]


def test_an_old_task_once_saved_is_listed_and_passed_once(dynamo: DynamoTaskStore) -> None:
    saved = saved_anew(dynamo)
    first = dynamo.list_page(TaskFilter(), limit=1, cursor=None)
    second = dynamo.list_page(TaskFilter(), limit=1, cursor=first.next_cursor)
    assert [*first.items, *second.items] == [saved]


def test_an_old_task_that_waits_in_words_waits_for_that_reason(dynamo: DynamoTaskStore) -> None:
    put_old_task(waits_for="quiet hours until 07:00 (UTC)")
    old = dynamo.get(ID)
    assert old.wait == Wait(WaitReason.QUIET_HOURS, detail={"end": "07:00", "zone": "UTC"})
    dynamo.save(old, user_actions.pause(old))
    assert dynamo.get(ID) == user_actions.pause(old)


def test_an_old_task_that_somebody_is_to_check_is_listed(dynamo: DynamoTaskStore) -> None:
    """It is in the index as older code put it there."""
    put_old_task(
        waits_for="somebody to say whether it was done well",
        status="pending_verification",
        retry_lane="to_verify",
        next_retry_at="2026-02-17T15:00:00.000Z",
    )
    assert [task.id for task in dynamo.list_to_verify(10)] == [ID]
