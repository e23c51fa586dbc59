"""The name of the token is in the audit trail, beside every change over HTTP."""

from __future__ import annotations

import json
import re
from typing import Any

from duecourse.app import stores
from duecourse.domain.time.instant import to_text

from local.runtime import aws_clients
from tests.support.stack_client import StackClient


def by_api(client: StackClient) -> list[dict[str, Any]]:
    return [item for item in client.items("/audit") if item["text"].startswith("[API]")]


def test_a_change_is_noted_with_the_tokens_name(client: StackClient) -> None:
    task = client.create(**{"in": "1h"})
    client.advance("10s")
    path = f"/tasks/{task['short_id']}/pause"
    assert client.call("POST", path, token="local-write").status == 200
    assert by_api(client) == [
        {
            "text": f"[API] token=local-write POST {path} 200 task={task['id']}",
            "at": "2026-02-17T12:00:10.000Z",
            "token": "local-write",
            "method": "POST",
            "path": path,
            "status": 200,
            "task_id": task["id"],
        }
    ]


def test_every_change_that_succeeds_is_noted_in_order(client: StackClient) -> None:
    task = client.create(**{"in": "1h"})
    changes: list[tuple[str, str, Any]] = [
        ("PATCH", f"/tasks/{task['id']}", {"in": "2h"}),
        ("PUT", "/budgets/llm", {"limit": 1}),
        ("POST", "/subjects/owner/repo/reset", None),
        ("POST", "/dead-letters/redrive", None),
        ("POST", f"/tasks/{task['id']}/cancel", None),
    ]
    for method, path, body in changes:
        assert client.call(method, path, body).status == 200, path
        client.advance("1s")
    assert [(one["method"], one["path"]) for one in by_api(client)] == [
        (method, path) for method, path, _ in changes
    ]
    assert [one.get("task_id") for one in by_api(client)] == [task["id"], *[None] * 3, task["id"]]


def test_a_change_tells_what_was_changed(client: StackClient) -> None:
    task = client.create(**{"in": "1h"})
    changes: list[tuple[str, str, Any, str]] = [
        ("PUT", "/budgets/llm", {"limit": "5.25"}, "limit=5.25"),
        (
            "PATCH",
            f"/tasks/{task['id']}",
            {"in": "2h", "description": "my secret"},
            "fields=description,in",
        ),
        ("POST", "/dead-letters/redrive", None, "redriven=0,left=0"),
        ("POST", "/dead-letters/drop", {"ids": ["x"]}, "dropped=0,left=1"),
    ]
    for method, path, body, detail in changes:
        assert client.call(method, path, body).status == 200, path
        noted = by_api(client)[-1]
        assert noted["detail"] == detail
        assert noted["text"].endswith(f" {detail}")
        client.advance("1s")


def test_what_only_reads_or_was_refused_is_not_noted(client: StackClient) -> None:
    asked: list[tuple[int, str, str, str, Any]] = [
        (200, "local", "GET", "/tasks", None),
        (200, "local", "POST", "/explain", {"policy": "agent", "message": "boom"}),
        (404, "local", "POST", "/tasks/00000000/cancel", None),
        (422, "local", "PUT", "/budgets/llm", {"limit": -1}),
        (403, "local-write", "PUT", "/budgets/llm", {"limit": 1}),
        (401, "guessed", "PUT", "/budgets/llm", {"limit": 1}),
    ]
    for status, token, method, path, body in asked:
        assert client.call(method, path, body, token=token).status == status, (method, path)
    assert by_api(client) == []


def test_a_new_task_carries_the_name_itself(client: StackClient) -> None:
    body = {"description": "stretch", "reply_target": "ada", "in": "1h"}
    task = client.call("POST", "/tasks", body, token="local-write").body
    assert task["created_by"] == "local-write"
    assert client.task(task["id"])["created_by"] == "local-write"
    [created] = client.items(f"/tasks/{task['id']}/history")
    assert (created["type"], created["detail"]["by"]) == ("task:created", "local-write")
    assert by_api(client) == []


def test_a_task_by_chat_was_created_by_no_token(client: StackClient) -> None:
    client.say("/remind in 1 hour stretch")
    [task] = client.items("/tasks")
    assert task["created_by"] is None
    [created] = client.items(f"/tasks/{task['id']}/history")
    assert "by" not in created["detail"]


def test_nobody_can_say_that_another_created_it(client: StackClient) -> None:
    body = {"description": "stretch", "reply_target": "ada", "in": "1h", "created_by": "root"}
    answer = client.call("POST", "/tasks", body)
    assert (answer.status, answer.body["errors"][0]["field"]) == (422, "created_by")


def test_a_change_that_could_not_be_noted_has_happened_and_is_answered_so(
    client: StackClient,
) -> None:
    task = client.create(**{"in": "1h"})
    client.add_fault(function="api", call="dynamodb.PutItem", nth=2, times=50, kind="error")
    answer = client.call("POST", f"/tasks/{task['id']}/pause")
    assert (answer.status, answer.body["paused"]) == (200, True)
    assert client.call("DELETE", "/_local/faults").status == 200
    assert client.task(task["id"])["paused"]
    assert by_api(client) == []


def test_no_path_can_forge_an_entry(client: StackClient) -> None:
    path = "/subjects/x%20200%0A[API]%20token=root%20POST%20/y/reset"
    assert client.call("POST", path).status == 404
    path = "/subjects/x%20200%20[API]%20token=root%20POST%20/y/reset"
    assert client.call("POST", path).status == 200
    [noted] = by_api(client)
    assert re.fullmatch(r"\[API\] token=local POST /\S+ 200", noted["text"]), noted["text"]


def test_a_note_is_kept_as_long_as_the_rest_of_the_journal(client: StackClient) -> None:
    client.call("PUT", "/budgets/llm", {"limit": 1})
    items = aws_clients.client("dynamodb").scan(TableName="JournalTable")["Items"]
    [item] = [item for item in items if item["task_id"]["S"].startswith("audit#")]
    ends_at = stores.clock().now() + stores.settings().retention
    assert int(item["expires_at"]["N"]) == int(ends_at.timestamp())
    assert item["at"]["S"] == to_text(stores.clock().now())
    assert len(json.dumps(item)) < 1024, "one write unit"
