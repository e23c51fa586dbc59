"""Only the system links tasks: a link in a payload does not affect the tasks of others."""

from __future__ import annotations

import json
from typing import Any

import boto3
import pytest
from duecourse.adapters.aws.dynamodb.models import TaskItem

from tests.support.stack_client import StackClient

ACTION = {"type": "action", "payload": {"provider": "scripted"}}


def create_series(client: StackClient) -> dict[str, Any]:
    """Create a series of ada and deliver its first occurrence."""
    client.say("/remind every day at 12:01 tea")
    client.advance("1m")
    [task] = client.items("/tasks")
    return task


def forged_payload(link: dict[str, Any]) -> dict[str, Any]:
    return {"payload": {**ACTION["payload"], **link}}  # type: ignore[dict-item]


def store_as_earlier_code(task: dict[str, Any], payload: dict[str, Any]) -> None:
    """Write the item as the code did that still allowed links in payloads."""
    boto3.client("dynamodb").update_item(
        TableName=TaskItem.Meta.table_name,
        Key={"short_id": {"S": task["short_id"]}, "id": {"S": task["id"]}},
        UpdateExpression="SET payload = :payload REMOVE created_by, schema_version",
        ExpressionAttributeValues={":payload": {"S": json.dumps(payload)}},
    )


def cancelled_ids(client: StackClient) -> list[str]:
    return [task["id"] for task in client.items("/tasks") if task["status"] == "cancelled"]


@pytest.mark.parametrize("key", ["snooze_of", "spec_review"])
@pytest.mark.parametrize("kind", ["reminder", "action"])
def test_a_payload_with_a_link_is_refused(client: StackClient, key: str, kind: str) -> None:
    series = create_series(client)
    link = {key: series["id"]}
    body = {"description": "pay the rent", "in": "1h", "sender_id": "ada", "type": kind}
    created = client.call("POST", "/tasks", body | forged_payload(link))
    task = client.create(**{"in": "1h", **(ACTION if kind == "action" else {})})
    changed = client.call("PATCH", f"/tasks/{task['id']}", forged_payload(link))

    for answer in (created, changed):
        [error] = answer.body["errors"]
        assert (answer.status, error["field"]) == (422, "payload")
        assert error["message"].startswith(f"{key}: is set by Duecourse")
    assert client.task(task["id"]) == task
    client.say(f"/cancel {series['id']}")
    assert cancelled_ids(client) == [series["id"]]


def test_a_stored_link_of_another_sender_cancels_nothing(client: StackClient) -> None:
    series = create_series(client)
    other = client.create(sender_id="bob", reply_target="bob", **{"in": "1h"})
    store_as_earlier_code(other, {"snooze_of": series["id"]})

    assert "snoozed" not in client.say(f"/cancel {series['id']}")
    assert cancelled_ids(client) == [series["id"]]
    client.advance("1h")
    assert client.task(other["id"])["status"] == "delivered"


def test_a_snooze_stored_by_earlier_code_is_cancelled_with_its_series(
    client: StackClient,
) -> None:
    series = create_series(client)
    client.say(f"/snooze {series['id']} 20m")
    [snooze] = [task for task in client.items("/tasks") if task["id"] != series["id"]]
    assert (snooze["snooze_of"], snooze["payload"]) == (series["id"], {})
    remove_link(snooze)
    assert client.task(snooze["id"])["snooze_of"] is None
    store_as_earlier_code(snooze, {"snooze_of": series["id"]})

    assert client.task(snooze["id"]) == snooze
    assert "snoozed reminders are cancelled too" in client.say(f"/cancel {series['id']}")
    assert sorted(cancelled_ids(client)) == sorted([series["id"], snooze["id"]])


def remove_link(task: dict[str, Any]) -> None:
    boto3.client("dynamodb").update_item(
        TableName=TaskItem.Meta.table_name,
        Key={"short_id": {"S": task["short_id"]}, "id": {"S": task["id"]}},
        UpdateExpression="REMOVE snooze_of",
    )
