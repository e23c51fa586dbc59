"""Unknown payload keys are refused; a task stored with one still runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import boto3
import pytest
from duecourse.adapters.aws.dynamodb.models import TaskItem

from tests.support.custom_handler import handler_project
from tests.support.stack_client import StackClient

SCRIPTED = {"provider": "scripted", "script": [{"reply": "ACTION_OUTCOME: success"}]}
BODY = {"description": "x", "in": "1h", "sender_id": "ada"}
TYPOS: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("reminder", {}, {"note": "x"}, "note"),
    ("action", SCRIPTED, {"budgt": "daily"}, "budgt"),
    ("action", SCRIPTED, {"model": "small"}, "model"),
    ("action", {"provider": "openai"}, {"modle": "small"}, "modle"),
    ("action", SCRIPTED, {"verifier": {**SCRIPTED, "modle": "x"}}, "verifier.modle"),
    ("action", SCRIPTED, {"spec": "x", "review": {"modle": "x"}}, "review.modle"),
    ("enrich", {**SCRIPTED, "schema": {}}, {"inptu": 1}, "inptu"),
    ("webhook", {"url": "https://a.example/"}, {"boddy": 1}, "boddy"),
]


def test_an_unknown_key_is_refused(client: StackClient) -> None:
    for kind, payload, typo, expected in TYPOS:
        wrong = {"payload": {**payload, **typo}}
        created = client.call("POST", "/tasks", {**BODY, "type": kind, **wrong})
        task = client.create(type=kind, payload=payload, **{"in": "1h"})
        changed = client.call("PATCH", f"/tasks/{task['id']}", wrong)
        for answer in (created, changed):
            [error] = answer.body["errors"]
            assert (answer.status, error["field"]) == (422, "payload")
            assert error["message"].startswith(f"{expected}: unknown key; allowed keys: ")
        assert client.task(task["id"]) == task
    assert len(client.items("/tasks")) == len(TYPOS)


def test_tasks_created_in_chat_have_valid_payloads(client: StackClient) -> None:
    assert client.say("/remind in 5 minutes tea").startswith("Reminder ")
    assert client.say("/do in 5 minutes sum up the day").startswith("Action ")
    client.advance("1h")
    statuses = {task["status"] for task in client.items("/tasks")}
    assert statuses == {"delivered", "completed"}


@pytest.mark.parametrize(("kind", "payload"), [("reminder", {}), ("action", SCRIPTED)])
def test_a_task_stored_with_an_unknown_key_still_runs(
    client: StackClient, kind: str, payload: dict[str, Any]
) -> None:
    task = client.create(type=kind, payload=payload, **{"in": "1h"})
    boto3.client("dynamodb").update_item(
        TableName=TaskItem.Meta.table_name,
        Key={"short_id": {"S": task["short_id"]}, "id": {"S": task["id"]}},
        UpdateExpression="SET payload = :payload REMOVE schema_version",
        ExpressionAttributeValues={":payload": {"S": json.dumps({**payload, "note": "x"})}},
    )
    answer = client.call("PATCH", f"/tasks/{task['id']}", {"description": "y"})
    assert (answer.status, answer.body["payload"]) == (200, {**payload, "note": "x"})
    client.advance("2h")
    assert client.task(task["id"])["status"] in ("delivered", "completed")


def test_a_custom_handler_accepts_any_key(tmp_path: Path) -> None:
    with handler_project(tmp_path) as team:
        task_id = team.create(payload={"lamp": "hall", "budgt": 5})
        team.client.advance("2m")
        assert team.status(task_id) == "completed"
