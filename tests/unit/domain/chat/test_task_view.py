"""Tasks as their sender sees them in chat."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from duecourse.domain.lifecycle.user_actions import snooze
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task

from tests.support.builders.failures import fail_repeatedly
from tests.support.builders.moments import DAY, HOUR, NOW
from tests.support.builders.runs import a_run
from tests.support.builders.tasks import ID, a_task, an_action
from tests.support.chat_harness import ChatHarness

SHORT = ID[:8]


def numbered(number: int, **fields: Any) -> Task:
    return a_task(id=f"{number:08x}-0000-4000-8000-000000000000", **fields)


def test_a_listing_is_soonest_first_with_marks() -> None:
    harness = ChatHarness(
        numbered(1, due_at=NOW + 3 * DAY, description="a\nlong one " + "x" * 200),
        numbered(2, due_at=NOW + DAY, repeat="weekdays", description="stand-up"),
        numbered(3, due_at=NOW + 2 * DAY, repeat="daily", paused=True, description="pill"),
        numbered(4, due_at=NOW + HOUR, type="action", status=Status.BLOCKED),
        numbered(5, status=Status.DELIVERED),
        numbered(6, sender_id="bob"),
    ).set_timezone("Asia/Tokyo")
    assert harness.say("/tasks").splitlines() == [
        "00000004  Tuesday 17 Feb 2026, 22:00 (Asia/Tokyo), blocked: stretch",
        "00000002  Wednesday 18 Feb 2026, 21:00 (Asia/Tokyo), every weekday: stand-up",
        "00000003  Thursday 19 Feb 2026, 21:00 (Asia/Tokyo), every day, paused: pill",
        f"00000001  Friday 20 Feb 2026, 21:00 (Asia/Tokyo): a long one {'x' * 89} …",
    ]


@pytest.mark.parametrize(
    ("count", "says", "first", "last"),
    [
        (20, "/tasks", "00000000", "00000013"),
        (21, "/tasks", "00000000", "1 more: /tasks 2"),
        (21, "/tasks 2", "00000014", "00000014"),
        (50, "/tasks 2", "00000014", "10 more: /tasks 3"),
        (50, "/tasks 3", "00000028", "00000031"),
        (20, "/tasks 2", "There is no page 2. First page:", "There is no page 2."),
    ],
)
def test_a_listing_has_pages_of_twenty(count: int, says: str, first: str, last: str) -> None:
    tasks = (numbered(n, due_at=NOW + n * HOUR) for n in range(count))
    lines = ChatHarness(*tasks).say(says).splitlines()
    assert len(lines) <= 21
    assert lines[0].startswith(first)
    assert lines[-1].startswith(last)


def test_an_empty_listing_says_how_to_fill_it() -> None:
    assert "/remind in 10 minutes stretch" in ChatHarness().say("/tasks")


def test_without_a_known_zone_a_task_is_told_in_its_own() -> None:
    harness = ChatHarness(a_task(timezone="Asia/Tokyo"))
    assert "21:00 (Asia/Tokyo)" in harness.say("/tasks")
    assert "21:00 (Asia/Tokyo)" in harness.say(f"/task {SHORT}")
    assert "13:00 (Europe/Berlin)" in harness.say("/tasks", locale="de")


def test_all_about_a_series_that_was_put_off() -> None:
    task = snooze(a_task(repeat="daily", delivered_at=NOW - DAY), until=NOW + HOUR)
    harness = ChatHarness(task).set_timezone("Europe/Berlin")
    assert harness.say(f"/task {SHORT}").splitlines() == [
        f"Reminder {SHORT}: stretch",
        "Status: pending",
        "Due: Tuesday 17 Feb 2026, 14:00 (Europe/Berlin)",
        "Originally due: Tuesday 17 Feb 2026, 13:00 (Europe/Berlin)",
        "Repeats: every day",
        "Last delivered: Monday 16 Feb 2026, 13:00 (Europe/Berlin)",
    ]


def test_all_about_a_failure_with_its_next_try() -> None:
    task = replace(fail_repeatedly(an_action(), 1), last_error="boom\nbang")
    reply = ChatHarness(task).say(f"/task {SHORT}")
    assert f"Action {SHORT}: stretch\nStatus: pending\nDue: " in reply
    assert "\nRetries: 1 of 5\nLast error: boom bang\nNext retry: Tuesday 17 Feb 2026, 12:" in reply


def test_what_is_blocked_comes_at_no_time() -> None:
    reply = ChatHarness(a_task(status=Status.BLOCKED, repeat="daily")).say(f"/task {SHORT}")
    assert reply == f"Reminder {SHORT}: stretch\nStatus: blocked\nRepeats: every day"


@pytest.mark.parametrize(
    ("fields", "labels"),
    [
        ({}, []),
        ({"status": Status.FAILED}, ["Retry now"]),
        ({"status": Status.BLOCKED}, ["Retry now", "Cancel"]),
        ({"status": Status.PENDING_VERIFICATION, "run": a_run()}, ["Approve", "Reject"]),
    ],
)
def test_what_can_be_answered_is_under_it(fields: dict[str, Any], labels: list[str]) -> None:
    said = ChatHarness(an_action(**fields)).dispatch(f"/task {SHORT}")
    assert [button.label for button in said.buttons] == labels
