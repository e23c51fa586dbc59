"""What newer code stored with a task survives the writes of this code."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import boto3
import pytest
from duecourse.adapters.aws.dynamodb.task_store import DynamoTaskStore
from duecourse.domain.failures.subject import Subject
from duecourse.domain.lifecycle.user_actions import cancel
from duecourse.domain.tasks.task import Task

from tests.support.builders.moments import NOW
from tests.support.builders.tasks import ID, a_task, claim_task

UNKNOWN: dict[str, Any] = {
    "cancel_requested": {"BOOL": True},
    "depends_on": {"L": [{"S": "one"}, {"S": "two"}]},
    "limit_key": {"S": "llm"},
    "cost": {"N": "12.5"},
    "links": {"M": {"rerun_of": {"S": "three"}}},
    "digest": {"B": b"\x00\xff"},
    "days": {"SS": ["mon", "tue"]},
}


@pytest.fixture
def task(dynamo: DynamoTaskStore) -> Task:
    """A task to which newer code has added attributes."""
    dynamo.create(a_task())
    client = boto3.client("dynamodb")
    client.put_item(TableName="TasksTable", Item=stored_item() | UNKNOWN)
    return dynamo.get(ID)


def stored_item() -> dict[str, Any]:
    key = {"short_id": {"S": ID[:8]}, "id": {"S": ID}}
    return dict(boto3.client("dynamodb").get_item(TableName="TasksTable", Key=key)["Item"])


def stored_unknown() -> dict[str, Any]:
    found = {name: value for name, value in stored_item().items() if name in UNKNOWN}
    if "days" in found:
        found["days"] = {"SS": sorted(found["days"]["SS"])}
    return found


def test_a_write_keeps_unknown_attributes(dynamo: DynamoTaskStore, task: Task) -> None:
    dynamo.save(task, cancel(task, at=NOW))
    assert stored_item()["status"] == {"S": "cancelled"}
    assert stored_unknown() == UNKNOWN


def test_a_transaction_keeps_unknown_attributes(dynamo: DynamoTaskStore, task: Task) -> None:
    dynamo.save(task, cancel(task, at=NOW), subject=Subject(id="story-1", version=1))
    assert stored_item()["status"] == {"S": "cancelled"}
    assert stored_unknown() == UNKNOWN


def test_a_chain_of_writes_keeps_unknown_attributes(dynamo: DynamoTaskStore, task: Task) -> None:
    claimed = claim_task(task)
    dynamo.save(task, claimed)
    ended = replace(claimed, version=claimed.version + 1)
    dynamo.save(claimed, ended)
    assert stored_unknown() == UNKNOWN


def test_unknown_attributes_say_nothing_about_whether_a_task_is_the_same(task: Task) -> None:
    assert task.unknown_attributes
    assert task == a_task()
    assert "cancel_requested" not in repr(task)
