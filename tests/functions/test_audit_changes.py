"""Every change over HTTP is in the audit log, with the name of its token."""

from __future__ import annotations

import json
import re
from typing import Any

from duecourse.app import stores
from duecourse.domain.time.instant import to_text

from local.runtime import aws_clients
from tests.support.stack_client import StackClient


def list_api_entries(client: StackClient) -> list[dict[str, Any]]:
    return [item for item in client.items("/audit") if item["text"].startswith("[API]")]


def test_a_change_is_audited_with_the_name_of_its_token(client: StackClient) -> None:
    task = client.create(**{"in": "1h"})
    client.advance("10s")
    path = f"/tasks/{task['short_id']}/pause"
    assert client.call("POST", path, token="local-write").status == 200
    assert list_api_entries(client) == [
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


def test_every_successful_change_is_audited_in_order(client: StackClient) -> None:
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
    assert [(entry["method"], entry["path"]) for entry in list_api_entries(client)] == [
        (method, path) for method, path, _ in changes
    ]
    assert [entry.get("task_id") for entry in list_api_entries(client)] == [
        task["id"],
        *[None] * 3,
        task["id"],
    ]


def test_an_audit_entry_describes_the_change(client: StackClient) -> None:
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
        entry = list_api_entries(client)[-1]
        assert entry["detail"] == detail
        assert entry["text"].endswith(f" {detail}")
        client.advance("1s")


def test_reads_and_refused_requests_are_not_audited(client: StackClient) -> None:
    requests: list[tuple[int, str, str, str, Any]] = [
        (200, "local", "GET", "/tasks", None),
        (200, "local", "POST", "/explain", {"policy": "agent", "message": "boom"}),
        (404, "local", "POST", "/tasks/00000000/cancel", None),
        (422, "local", "PUT", "/budgets/llm", {"limit": -1}),
        (403, "local-write", "PUT", "/budgets/llm", {"limit": 1}),
        (401, "guessed", "PUT", "/budgets/llm", {"limit": 1}),
    ]
    for status, token, method, path, body in requests:
        assert client.call(method, path, body, token=token).status == status, (method, path)
    assert list_api_entries(client) == []


def test_a_new_task_has_the_token_name_as_created_by(client: StackClient) -> None:
    body = {"description": "stretch", "reply_target": "ada", "in": "1h"}
    task = client.call("POST", "/tasks", body, token="local-write").body
    assert task["created_by"] == "local-write"
    assert client.task(task["id"])["created_by"] == "local-write"
    [created] = client.items(f"/tasks/{task['id']}/history")
    assert (created["type"], created["detail"]["by"]) == ("task:created", "local-write")
    assert list_api_entries(client) == []


def test_a_task_from_chat_has_no_created_by(client: StackClient) -> None:
    client.say("/remind in 1 hour stretch")
    [task] = client.items("/tasks")
    assert task["created_by"] is None
    [created] = client.items(f"/tasks/{task['id']}/history")
    assert "by" not in created["detail"]


def test_a_request_cannot_set_created_by(client: StackClient) -> None:
    body = {"description": "stretch", "reply_target": "ada", "in": "1h", "created_by": "root"}
    response = client.call("POST", "/tasks", body)
    assert (response.status, response.body["errors"][0]["field"]) == (422, "created_by")


def test_a_change_succeeds_even_if_auditing_fails(
    client: StackClient,
) -> None:
    task = client.create(**{"in": "1h"})
    client.add_fault(function="api", call="dynamodb.PutItem", nth=2, times=50, kind="error")
    response = client.call("POST", f"/tasks/{task['id']}/pause")
    assert (response.status, response.body["paused"]) == (200, True)
    assert client.call("DELETE", "/_local/faults").status == 200
    assert client.task(task["id"])["paused"]
    assert list_api_entries(client) == []


def test_a_path_cannot_forge_an_audit_entry(client: StackClient) -> None:
    path = "/subjects/x%20200%0A[API]%20token=root%20POST%20/y/reset"
    assert client.call("POST", path).status == 404
    path = "/subjects/x%20200%20[API]%20token=root%20POST%20/y/reset"
    assert client.call("POST", path).status == 200
    [entry] = list_api_entries(client)
    assert re.fullmatch(r"\[API\] token=local POST /\S+ 200", entry["text"]), entry["text"]


def test_an_audit_entry_expires_with_the_journal(client: StackClient) -> None:
    client.call("PUT", "/budgets/llm", {"limit": 1})
    items = aws_clients.client("dynamodb").scan(TableName="JournalTable")["Items"]
    [item] = [item for item in items if item["task_id"]["S"].startswith("audit#")]
    ends_at = stores.clock().now() + stores.settings().retention
    assert int(item["expires_at"]["N"]) == int(ends_at.timestamp())
    assert item["at"]["S"] == to_text(stores.clock().now())
    assert len(json.dumps(item)) < 1024, "one write unit"
