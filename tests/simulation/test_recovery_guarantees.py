"""The guarantees of the recovery system, checked on the running stack.

State machine, classification, schedule, recovery actions, restart; then the checks that a person
would make by hand.
"""

from __future__ import annotations

from datetime import timedelta
from math import ceil
from typing import Any

import pytest
from duecourse.domain.time.instant import from_text

from tests.simulation.test_failures import (
    REFUSED,
    SUCCESS,
    TYPE_ERROR,
    create_action,
    is_within_jitter,
)
from tests.support.stack_client import StackClient

TEST_FAILED = {"error": {"message": "Test failed: expect(received).toEqual(expected)"}}
TIMED_OUT = {"error": {"message": "Task timed out after 300 seconds", "type": "TimeoutError"}}
NO_MEMORY = {"error": {"message": "FATAL ERROR: JavaScript heap out of memory"}}
NO_MODULE = {"error": {"message": "Error: Cannot find module 'express'"}}
UNKNOWN_ERROR = {"error": {"message": "the flux was misaligned"}}
DELAYS_BY_CATEGORY: dict[str, tuple[dict[str, Any], list[float]]] = {
    "transient": (REFUSED, [0.5, 2]),
    "code_error": (TYPE_ERROR, [2, 5]),
    "test_failure": (TEST_FAILED, [2, 5]),
    "timeout": (TIMED_OUT, [5, 15]),
    "resource_exhaustion": (NO_MEMORY, [15, 30]),
    "dependency_missing": (NO_MODULE, [2, 5]),
    "unknown": (UNKNOWN_ERROR, [2, 5]),
}
SPEC = {"spec": "foo is exported by lib/foo.ts"}


def types_of(client: StackClient, task: dict[str, Any]) -> list[str]:
    return [event["type"] for event in client.items(f"/tasks/{task['id']}/history")]


def event_of(client: StackClient, task: dict[str, Any], kind: str) -> dict[str, Any]:
    matches = [
        event for event in client.items(f"/tasks/{task['id']}/history") if event["type"] == kind
    ]
    return dict(matches[-1]["detail"])


def review_of(client: StackClient, task: dict[str, Any]) -> dict[str, Any]:
    prefix = f"{task['short_id']}-SPEC-REVIEW"
    [review] = [
        task_item
        for task_item in client.items("/tasks")
        if task_item["description"].startswith(prefix)
    ]
    return review


# --- 1: the state machine ---------------------------------------------------------------------


def test_an_illegal_transition_is_refused_with_its_reason(client: StackClient) -> None:
    task = create_action(client, SUCCESS)
    client.advance("11s")

    for action in ("retry", "unblock", "cancel", "pause", "resume", "run", "approve"):
        refused = client.call("POST", f"/tasks/{task['id']}/{action}")
        assert refused.status == 409, action
        assert task["short_id"] in refused.body["detail"]
    assert client.task(task["id"])["status"] == "completed"


def test_every_transition_is_in_the_history_with_the_failure(
    client: StackClient,
) -> None:
    task = create_action(client, REFUSED, SUCCESS)
    client.advance("5m")

    assert types_of(client, task) == [
        *("task:created", "task:started", "task:retry_scheduled", "task:recovery_action"),
        *("task:started", "task:retry_executed", "task:completed"),
    ]
    scheduled = event_of(client, task, "task:retry_scheduled")
    assert (scheduled["category"], scheduled["attempt"]) == ("transient", 2)
    assert scheduled["error"].startswith("connect ECONNREFUSED")


# --- 2: the classification --------------------------------------------------------------------


@pytest.mark.parametrize("category", DELAYS_BY_CATEGORY)
def test_each_category_is_recognised_and_has_a_suggested_fix(
    client: StackClient, category: str
) -> None:
    error = DELAYS_BY_CATEGORY[category][0]["error"]
    explanation = client.call("POST", "/explain", {"policy": "agent", **error}).body

    assert explanation["category"] == category
    assert explanation["suggested_fix"]
    assert explanation["confidence"] >= 0.8 or category == "unknown"


def test_a_typescript_error_has_its_location(client: StackClient) -> None:
    explanation = client.call("POST", "/explain", {"policy": "agent", **TYPE_ERROR["error"]}).body
    assert explanation["location"] == {"file": "file.ts", "line": 45}


# --- 3: the schedule --------------------------------------------------------------------------


@pytest.mark.parametrize("category", DELAYS_BY_CATEGORY)
def test_each_category_has_its_own_growing_delays(client: StackClient, category: str) -> None:
    error, minutes = DELAYS_BY_CATEGORY[category]
    task = create_action(client, error)
    due_at = from_text(task["due_at"])
    for expected_delay in minutes:
        client.advance(f"{ceil((due_at - from_text(_now(client))).total_seconds()) + 1}s")
        [retry] = client.items("/retries")
        assert (retry["id"], retry["category"]) == (task["id"], category)
        assert is_within_jitter(from_text(retry["next_retry_at"]) - due_at, 60 * expected_delay)
        due_at = from_text(retry["next_retry_at"])


def _now(client: StackClient) -> str:
    return str(client.call("GET", "/_local/clock").body["now"])


# --- 4: the recovery actions ------------------------------------------------------------------


def test_guidance_is_added_and_the_description_is_unchanged(client: StackClient) -> None:
    task = create_action(client, TYPE_ERROR, description="fix the build")
    client.advance("11s")

    after = client.task(task["id"])
    assert after["recovery_action"] == "retry_with_guidance"
    assert "file.ts, line 45" in after["guidance"][0]
    assert after["description"] == "fix the build"


def test_three_code_errors_start_a_spec_review_and_use_its_result(
    client: StackClient,
) -> None:
    task = create_action(client, TYPE_ERROR, TYPE_ERROR, TYPE_ERROR, SUCCESS, payload=SPEC)
    client.advance("8m")
    review = review_of(client, task)
    requested = event_of(client, task, "task:spec_refresh_requested")
    client.advance("1m")

    assert requested["review_task_id"] == review["id"]
    assert client.task(review["id"])["status"] == "completed"
    after = client.task(task["id"])
    assert after["status"] == "completed"
    assert any("All done." in hint for hint in after["guidance"])


def test_the_fourth_failure_escalates_and_notifies(client: StackClient) -> None:
    task = create_action(client, UNKNOWN_ERROR)
    client.advance("1h")

    after = client.task(task["id"])
    assert (after["status"], after["retry_count"]) == ("blocked", 4)
    assert after["recovery_action"] == "escalate_to_human"
    assert "task:escalated" in types_of(client, task)
    for target in ("ada", "operators"):
        message = client.outbox(target)[-1]
        assert task["short_id"] in message["text"]
        assert [button["label"] for button in message["buttons"]] == ["Retry now", "Cancel"]


def test_the_fifth_failure_blocks_the_task_permanently(client: StackClient) -> None:
    task = create_action(client, UNKNOWN_ERROR)
    client.advance("1h")
    client.call("POST", f"/tasks/{task['id']}/unblock")
    client.advance("1m")

    after = client.task(task["id"])
    assert (after["status"], after["recovery_action"]) == ("blocked", "mark_as_blocked")
    assert types_of(client, task)[-1] == "task:permanently_blocked"
    assert "task:retry_exhausted" in types_of(client, task)


def test_a_blocked_task_times_out_after_a_day(client: StackClient) -> None:
    task = create_action(client, UNKNOWN_ERROR)
    client.advance("1h")
    client.advance("22h")
    assert client.task(task["id"])["status"] == "blocked"
    client.advance("2h")

    assert client.task(task["id"])["status"] == "failed"
    assert types_of(client, task)[-1] == "task:failed"
    assert task["short_id"] in client.outbox("ada")[-1]["text"]


# --- 5 and 8: retries run by themselves, once, also after a restart ---------------------------


def test_a_due_retry_runs_by_itself(client: StackClient) -> None:
    task = create_action(client, REFUSED, SUCCESS)
    client.advance("11s")
    assert client.task(task["id"])["status"] == "pending"
    client.advance("40s")

    assert client.items("/retries") == []
    runs = client.items(f"/tasks/{task['id']}/runs")
    assert [(run["attempt"], run["reason"]) for run in runs] == [(1, "first"), (2, "transient")]


def test_pending_retries_survive_a_redeployment(client: StackClient) -> None:
    task = create_action(client, REFUSED, SUCCESS)
    client.advance("11s")
    before = client.items("/retries")
    assert client.call("POST", "/_local/redeploy").status == 200

    assert client.items("/retries") == before
    client.advance("40s")
    assert client.task(task["id"])["status"] == "completed"


def test_a_failure_reported_twice_schedules_one_retry(client: StackClient) -> None:
    client.add_fault(function="failure", call="dynamodb.PutItem", when="after", kind="crash")
    task = create_action(client, REFUSED, SUCCESS)
    client.advance("15m")

    assert types_of(client, task).count("task:retry_scheduled") == 1
    assert len(client.items(f"/tasks/{task['id']}/runs")) == 2


# --- the checks that a person would make ------------------------------------------------------


def test_a_test_failure_is_retried_and_its_fix_is_verified(client: StackClient) -> None:
    task = create_action(client, TEST_FAILED, SUCCESS, verify=True)
    client.advance("5m")
    assert client.task(task["id"])["status"] == "pending_verification"
    client.say(f"/approve {task['short_id']}")

    assert client.task(task["id"])["status"] == "completed"


def test_a_transient_error_is_retried_in_half_a_minute(client: StackClient) -> None:
    task = create_action(client, REFUSED, SUCCESS)
    client.advance("11s")
    delay = from_text(client.task(task["id"])["next_retry_at"]) - from_text(task["due_at"])
    client.advance("35s")

    assert timedelta(seconds=30) <= delay <= timedelta(seconds=33)
    assert client.task(task["id"])["status"] == "completed"


def test_a_pending_retry_has_its_time(client: StackClient) -> None:
    """The dashboard counts down to it; tests/browser checks that."""
    task = create_action(client, TYPE_ERROR)
    client.advance("11s")

    [retry] = client.items("/retries")
    assert retry["id"] == task["id"]
    assert from_text(retry["next_retry_at"]) > from_text(_now(client))
