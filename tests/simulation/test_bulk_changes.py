"""Changing many tasks: reading a listing page by page and changing each task."""

from __future__ import annotations

from tests.simulation.tasks_in_every_state import create_in_every_state
from tests.support.stack_client import StackClient


def test_cancelling_while_paging_reaches_every_task_once(client: StackClient) -> None:
    created = [client.create(description="tea", **{"in": "5h"})["id"] for _ in range(25)]
    client.create(description="other", **{"in": "5h"})
    cancelled: list[str] = []
    cursor = ""
    while cursor is not None:
        page = client.call("GET", f"/tasks?search=tea&status=pending&limit=10&cursor={cursor}")
        for task in page.body["items"]:
            assert client.call("POST", f"/tasks/{task['id']}/cancel").status == 200
            cancelled.append(task["id"])
        cursor = page.body["next_cursor"]

    assert sorted(cancelled) == sorted(created)
    assert [task["description"] for task in client.items("/tasks?status=pending")] == ["other"]


def test_an_impossible_change_is_refused_with_its_reason(client: StackClient) -> None:
    tasks = create_in_every_state(client)
    refused = {}
    for name, task_id in tasks.items():
        for action in ("retry", "cancel"):
            answer = client.call("POST", f"/tasks/{task_id}/{action}")
            if answer.status != 200:
                assert answer.status == 409
                refused[name, action] = answer.body["detail"].removeprefix(f"task {task_id[:8]} ")
    assert refused == {
        ("indeterminate", "retry"): "may or may not have happened: resolve it first, as applied, "
        "not_applied or skip",
        ("failed", "cancel"): "is failed and cannot become cancelled",
        ("to verify", "retry"): "is pending_verification: it has no failure to retry",
        ("delivered", "retry"): "is delivered: it has no failure to retry",
        ("delivered", "cancel"): "is delivered and cannot become cancelled",
        ("waiting", "retry"): "is pending: it has no failure to retry",
        ("repeating", "retry"): "is pending: it has no failure to retry",
        ("paused", "retry"): "is paused: resume it first",
        ("cancelled", "retry"): "is cancelled: it has no failure to retry",
    }
