"""What the recovery system promises, each promise kept by the running stack on its moved clock.

The state machine, the analysis, the schedule, the recovery actions, a restart; then what a person
would check by hand.
"""

from __future__ import annotations

from datetime import timedelta
from math import ceil
from typing import Any

import pytest
from duecourse.domain.time.instant import from_text

from tests.simulation.test_failures import REFUSED, SUCCESS, TYPE_ERROR, an_action, is_about
from tests.support.stack_client import StackClient

TEST_FAILED = {"error": {"message": "Test failed: expect(received).toEqual(expected)"}}
TIMED_OUT = {"error": {"message": "Task timed out after 300 seconds", "type": "TimeoutError"}}
NO_MEMORY = {"error": {"message": "FATAL ERROR: JavaScript heap out of memory"}}
NO_MODULE = {"error": {"message": "Error: Cannot find module 'express'"}}
ODD = {"error": {"message": "the flux was misaligned"}}
MINUTES: dict[str, tuple[dict[str, Any], list[float]]] = {
    "transient": (REFUSED, [0.5, 2]),
    "code_error": (TYPE_ERROR, [2, 5]),
    "test_failure": (TEST_FAILED, [2, 5]),
    "timeout": (TIMED_OUT, [5, 15]),
    "resource_exhaustion": (NO_MEMORY, [15, 30]),
    "dependency_missing": (NO_MODULE, [2, 5]),
    "unknown": (ODD, [2, 5]),
}
SPEC = {"spec": "foo is exported by lib/foo.ts"}


def types_of(client: StackClient, task: dict[str, Any]) -> list[str]:
    return [event["type"] for event in client.items(f"/tasks/{task['id']}/history")]


def event_of(client: StackClient, task: dict[str, Any], kind: str) -> dict[str, Any]:
    found = [e for e in client.items(f"/tasks/{task['id']}/history") if e["type"] == kind]
    return dict(found[-1]["detail"])


def review_of(client: StackClient, task: dict[str, Any]) -> dict[str, Any]:
    begins = f"{task['short_id']}-SPEC-REVIEW"
    [review] = [one for one in client.items("/tasks") if one["description"].startswith(begins)]
    return review


# --- 1: the state machine ---------------------------------------------------------------------


def test_an_illegal_move_is_refused_and_says_why(client: StackClient) -> None:
    task = an_action(client, SUCCESS)
    client.advance("11s")

    for move in ("retry", "unblock", "cancel", "pause", "resume", "run", "approve"):
        refused = client.call("POST", f"/tasks/{task['id']}/{move}")
        assert refused.status == 409, move
        assert task["short_id"] in refused.body["detail"]
    assert client.task(task["id"])["status"] == "completed"


def test_every_move_is_in_the_history_with_what_is_known_of_the_failure(
    client: StackClient,
) -> None:
    task = an_action(client, REFUSED, SUCCESS)
    client.advance("5m")

    assert types_of(client, task) == [
        *("task:created", "task:started", "task:retry_scheduled", "task:recovery_action"),
        *("task:started", "task:retry_executed", "task:completed"),
    ]
    scheduled = event_of(client, task, "task:retry_scheduled")
    assert (scheduled["category"], scheduled["attempt"]) == ("transient", 2)
    assert scheduled["error"].startswith("connect ECONNREFUSED")


# --- 2: the analysis --------------------------------------------------------------------------


@pytest.mark.parametrize("category", MINUTES)
def test_each_kind_of_error_is_told_apart_with_a_fix(client: StackClient, category: str) -> None:
    error = MINUTES[category][0]["error"]
    found = client.call("POST", "/explain", {"policy": "agent", **error}).body

    assert found["category"] == category
    assert found["suggested_fix"]
    assert found["confidence"] >= 0.8 or category == "unknown"


def test_a_typescript_error_has_its_place(client: StackClient) -> None:
    found = client.call("POST", "/explain", {"policy": "agent", **TYPE_ERROR["error"]}).body
    assert found["location"] == {"file": "file.ts", "line": 45}


# --- 3: the schedule --------------------------------------------------------------------------


@pytest.mark.parametrize("category", MINUTES)
def test_each_category_waits_its_own_time_and_longer_each_time(
    client: StackClient, category: str
) -> None:
    error, minutes = MINUTES[category]
    task = an_action(client, error)
    due_at = from_text(task["due_at"])
    for wait in minutes:
        client.advance(f"{ceil((due_at - from_text(_now(client))).total_seconds()) + 1}s")
        [retry] = client.items("/retries")
        assert (retry["id"], retry["category"]) == (task["id"], category)
        assert is_about(from_text(retry["next_retry_at"]) - due_at, 60 * wait)
        due_at = from_text(retry["next_retry_at"])


def _now(client: StackClient) -> str:
    return str(client.call("GET", "/_local/clock").body["now"])


# --- 4: the recovery actions ------------------------------------------------------------------


def test_guidance_is_added_and_the_description_stays_the_persons(client: StackClient) -> None:
    task = an_action(client, TYPE_ERROR, description="fix the build")
    client.advance("11s")

    after = client.task(task["id"])
    assert after["recovery_action"] == "retry_with_guidance"
    assert "file.ts, line 45" in after["guidance"][0]
    assert after["description"] == "fix the build"


def test_three_code_errors_have_the_specification_reviewed_and_the_answer_used(
    client: StackClient,
) -> None:
    task = an_action(client, TYPE_ERROR, TYPE_ERROR, TYPE_ERROR, SUCCESS, payload=SPEC)
    client.advance("8m")
    review = review_of(client, task)
    asked = event_of(client, task, "task:spec_refresh_requested")
    client.advance("1m")

    assert asked["review_task_id"] == review["id"]
    assert client.task(review["id"])["status"] == "completed"
    after = client.task(task["id"])
    assert after["status"] == "completed"
    assert any("All done." in said for said in after["guidance"])


def test_the_fourth_failure_needs_a_person_and_they_are_told(client: StackClient) -> None:
    task = an_action(client, ODD)
    client.advance("1h")

    after = client.task(task["id"])
    assert (after["status"], after["retry_count"]) == ("blocked", 4)
    assert after["recovery_action"] == "escalate_to_human"
    assert "task:escalated" in types_of(client, task)
    for target in ("ada", "operators"):
        told = client.outbox(target)[-1]
        assert task["short_id"] in told["text"]
        assert [button["label"] for button in told["buttons"]] == ["Retry now", "Cancel"]


def test_the_fifth_failure_blocks_it_for_good(client: StackClient) -> None:
    task = an_action(client, ODD)
    client.advance("1h")
    client.call("POST", f"/tasks/{task['id']}/unblock")
    client.advance("1m")

    after = client.task(task["id"])
    assert (after["status"], after["recovery_action"]) == ("blocked", "mark_as_blocked")
    assert types_of(client, task)[-1] == "task:permanently_blocked"
    assert "task:retry_exhausted" in types_of(client, task)


def test_a_blocked_task_times_out_after_a_day(client: StackClient) -> None:
    task = an_action(client, ODD)
    client.advance("1h")
    client.advance("22h")
    assert client.task(task["id"])["status"] == "blocked"
    client.advance("2h")

    assert client.task(task["id"])["status"] == "failed"
    assert types_of(client, task)[-1] == "task:failed"
    assert task["short_id"] in client.outbox("ada")[-1]["text"]


# --- 5 and 8: retries come by themselves, once, also after a restart --------------------------


def test_a_due_retry_goes_from_pending_through_its_run(client: StackClient) -> None:
    task = an_action(client, REFUSED, SUCCESS)
    client.advance("11s")
    assert client.task(task["id"])["status"] == "pending"
    client.advance("40s")

    assert client.items("/retries") == []
    runs = client.items(f"/tasks/{task['id']}/runs")
    assert [(run["attempt"], run["reason"]) for run in runs] == [(1, "first"), (2, "transient")]


def test_pending_retries_survive_that_every_container_is_replaced(client: StackClient) -> None:
    task = an_action(client, REFUSED, SUCCESS)
    client.advance("11s")
    before = client.items("/retries")
    assert client.call("POST", "/_local/redeploy").status == 200

    assert client.items("/retries") == before
    client.advance("40s")
    assert client.task(task["id"])["status"] == "completed"


def test_one_failure_schedules_one_retry_however_often_it_is_reported(client: StackClient) -> None:
    client.add_fault(function="failure", call="dynamodb.PutItem", when="after", kind="crash")
    task = an_action(client, REFUSED, SUCCESS)
    client.advance("15m")

    assert types_of(client, task).count("task:retry_scheduled") == 1
    assert len(client.items(f"/tasks/{task['id']}/runs")) == 2


# --- the checks that a person would make ------------------------------------------------------


def test_a_test_failure_is_retried_and_its_mend_is_validated(client: StackClient) -> None:
    task = an_action(client, TEST_FAILED, SUCCESS, verify=True)
    client.advance("5m")
    assert client.task(task["id"])["status"] == "pending_verification"
    client.say(f"/approve {task['short_id']}")

    assert client.task(task["id"])["status"] == "completed"


def test_a_transient_error_is_over_in_half_a_minute(client: StackClient) -> None:
    task = an_action(client, REFUSED, SUCCESS)
    client.advance("11s")
    waits = from_text(client.task(task["id"])["next_retry_at"]) - from_text(task["due_at"])
    client.advance("35s")

    assert timedelta(seconds=30) <= waits <= timedelta(seconds=33)
    assert client.task(task["id"])["status"] == "completed"


def test_a_retry_that_is_waiting_says_when_it_comes(client: StackClient) -> None:
    """The dashboard counts down to it: tests/browser looks at that."""
    task = an_action(client, TYPE_ERROR)
    client.advance("11s")

    [retry] = client.items("/retries")
    assert retry["id"] == task["id"]
    assert from_text(retry["next_retry_at"]) > from_text(_now(client))
