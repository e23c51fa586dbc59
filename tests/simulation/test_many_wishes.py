"""What a person wishes for many tasks at once: a walk through a listing, and one wish for each."""

from __future__ import annotations

from tests.simulation.every_state import in_every_state
from tests.support.stack_client import StackClient


def test_a_walk_that_changes_what_it_meets_meets_everything_once(client: StackClient) -> None:
    made = [client.create(description="tea", **{"in": "5h"})["id"] for _ in range(25)]
    client.create(description="other", **{"in": "5h"})
    met: list[str] = []
    cursor = ""
    while cursor is not None:
        found = client.call("GET", f"/tasks?search=tea&status=pending&limit=10&cursor={cursor}")
        for task in found.body["items"]:
            assert client.call("POST", f"/tasks/{task['id']}/cancel").status == 200
            met.append(task["id"])
        cursor = found.body["next_cursor"]

    assert sorted(met) == sorted(made)
    assert [task["description"] for task in client.items("/tasks?status=pending")] == ["other"]


def test_whatever_cannot_be_is_refused_with_the_reason(client: StackClient) -> None:
    tasks = in_every_state(client)
    refused = {}
    for name, task_id in tasks.items():
        for wish in ("retry", "cancel"):
            answer = client.call("POST", f"/tasks/{task_id}/{wish}")
            if answer.status != 200:
                assert answer.status == 409
                refused[name, wish] = answer.body["detail"].removeprefix(f"task {task_id[:8]} ")
    assert refused == {
        ("in doubt", "retry"): "may have had its effect: resolve it first, as applied, "
        "not_applied or skip",
        ("failed", "cancel"): "is failed: it cannot become cancelled",
        ("to verify", "retry"): "is pending_verification: it has no failure to retry",
        ("delivered", "retry"): "is delivered: it has no failure to retry",
        ("delivered", "cancel"): "is delivered: it cannot become cancelled",
        ("waiting", "retry"): "is pending: it has no failure to retry",
        ("repeating", "retry"): "is pending: it has no failure to retry",
        ("paused", "retry"): "is paused: resume it first",
        ("cancelled", "retry"): "is cancelled: it has no failure to retry",
    }
