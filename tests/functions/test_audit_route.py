"""The audit log over HTTP: one UTC day, oldest first, page by page."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.stack_client import StackClient

SUCCESS = {"reply": "ACTION_OUTCOME: success", "cost": 0.002}
CONNECTION_REFUSED = {
    "error": {"message": "connect ECONNREFUSED 10.0.0.1:443", "code": "ECONNREFUSED"}
}


def create_action(client: StackClient, *script: dict[str, Any], seconds: int = 1) -> str:
    payload = {"provider": "scripted", "script": list(script)}
    task = client.create(type="action", payload=payload, **{"in": seconds})
    return str(task["id"])


def executions(client: StackClient) -> list[dict[str, Any]]:
    """Return the audit entries of executions, without those of HTTP changes."""
    return [item for item in client.items("/audit") if item["text"].startswith("[ACTION]")]


def test_every_execution_is_listed_oldest_first(client: StackClient) -> None:
    task_id = create_action(client, CONNECTION_REFUSED, SUCCESS)
    client.advance("10m")

    items = client.items("/audit")
    assert [item["outcome"] for item in items] == ["transient", "success"]
    assert {item["task_id"] for item in items} == {task_id}
    assert items[1]["text"].startswith("[ACTION] provider=scripted")
    assert (items[1]["cost"], items[1]["duration_ms"]) == (0.002, 0)


def test_paging_lists_every_entry_once(client: StackClient) -> None:
    ids = [create_action(client, SUCCESS, seconds=n) for n in range(1, 6)]
    client.advance("1m")

    task_ids: list[str] = []
    query = "/audit?limit=2"
    while True:
        page = client.call("GET", query).body
        task_ids += [item["task_id"] for item in page["items"]]
        if page["next_cursor"] is None:
            break
        query = f"/audit?limit=2&cursor={page['next_cursor'].replace('#', '%23')}"
    assert task_ids == ids


def test_each_day_has_its_own_entries(client: StackClient) -> None:
    create_action(client, SUCCESS)
    client.advance("1m")

    assert client.items("/audit?day=2026-02-16") == []
    assert len(client.items("/audit?day=2026-02-17")) == 1


@pytest.mark.parametrize(
    ("query", "field"),
    [
        *(("day=tomorrow", "day"), ("day=20260217", "day"), ("day=2026-W08-2", "day")),
        *(("limit=0", "limit"), ("cursor=x", "cursor"), ("colour=1", "colour")),
    ],
)
def test_an_invalid_query_parameter_is_named(client: StackClient, query: str, field: str) -> None:
    reply = client.call("GET", f"/audit?{query}")
    assert (reply.status, reply.body["errors"][0]["field"]) == (422, field)


def test_an_execution_is_listed_before_it_is_verified(client: StackClient) -> None:
    payload = {"provider": "scripted", "script": [SUCCESS]}
    task = client.create(type="action", payload=payload, verify=True, **{"in": 1})
    client.advance("5s")
    assert client.task(task["id"])["status"] == "pending_verification"
    [item] = executions(client)
    assert (item["task_id"], item["outcome"], item["cost"]) == (task["id"], "success", 0.002)

    client.call("POST", f"/tasks/{task['id']}/cancel")
    client.advance("5s")
    assert [item["outcome"] for item in executions(client)] == ["cancelled"]


@pytest.mark.parametrize(
    ("action", "body", "outcome"),
    [("approve", None, "success"), ("reject", {"reason": "no"}, "unknown")],
)
def test_a_verification_is_not_a_second_execution(
    client: StackClient, action: str, body: Any, outcome: str
) -> None:
    payload = {"provider": "scripted", "script": [SUCCESS]}
    task = client.create(type="action", payload=payload, verify=True, **{"in": 1})
    client.advance("5s")
    assert client.call("POST", f"/tasks/{task['id']}/{action}", body).status == 200
    client.advance("5s")
    assert [item["outcome"] for item in executions(client)] == [outcome]
