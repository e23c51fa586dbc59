"""Lists and details of tasks in chat."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from duecourse.domain.chat.notification_text import format_diagnosis
from duecourse.domain.lifecycle.user_actions import snooze
from duecourse.domain.tasks.failure_kind import Kind
from duecourse.domain.tasks.failure_kind_text import name_kind
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task

from tests.support.builders.failures import fail_repeatedly
from tests.support.builders.moments import DAY, HOUR, NOW
from tests.support.builders.runs import a_run
from tests.support.builders.tasks import ID, a_task, an_action
from tests.support.chat_harness import ChatHarness
from tests.support.notification_cases import make_indeterminate

SHORT = ID[:8]


def a_numbered_task(number: int, **fields: Any) -> Task:
    return a_task(id=f"{number:08x}-0000-4000-8000-000000000000", **fields)


def test_a_list_is_sorted_by_due_time_with_status_and_recurrence() -> None:
    harness = ChatHarness(
        a_numbered_task(1, due_at=NOW + 3 * DAY, description="a\nlong one " + "x" * 200),
        a_numbered_task(2, due_at=NOW + DAY, repeat="weekdays", description="stand-up"),
        a_numbered_task(3, due_at=NOW + 2 * DAY, repeat="daily", paused=True, description="pill"),
        a_numbered_task(4, due_at=NOW + HOUR, type="action", status=Status.BLOCKED),
        a_numbered_task(5, status=Status.DELIVERED),
        a_numbered_task(6, sender_id="bob"),
    ).set_timezone("Asia/Tokyo")
    assert harness.say("/tasks").splitlines() == [
        "00000004  Tuesday 17 Feb 2026, 22:00 (Asia/Tokyo), blocked: stretch",
        "00000002  Wednesday 18 Feb 2026, 21:00 (Asia/Tokyo), every weekday: stand-up",
        "00000003  Thursday 19 Feb 2026, 21:00 (Asia/Tokyo), every day, paused: pill",
        f"00000001  Friday 20 Feb 2026, 21:00 (Asia/Tokyo): a long one {'x' * 89} …",
    ]


@pytest.mark.parametrize(
    ("count", "command", "first", "last"),
    [
        (20, "/tasks", "00000000", "00000013"),
        (21, "/tasks", "00000000", "1 more: /tasks 2"),
        (21, "/tasks 2", "00000014", "00000014"),
        (50, "/tasks 2", "00000014", "10 more: /tasks 3"),
        (50, "/tasks 3", "00000028", "00000031"),
        (20, "/tasks 2", "There is no page 2. First page:", "There is no page 2."),
    ],
)
def test_a_list_has_pages_of_twenty(count: int, command: str, first: str, last: str) -> None:
    tasks = (a_numbered_task(n, due_at=NOW + n * HOUR) for n in range(count))
    lines = ChatHarness(*tasks).say(command).splitlines()
    assert len(lines) <= 21
    assert lines[0].startswith(first)
    assert lines[-1].startswith(last)


def test_an_empty_list_shows_how_to_create_a_reminder() -> None:
    assert "/remind in 10 minutes stretch" in ChatHarness().say("/tasks")


def test_a_sender_without_a_timezone_sees_the_tasks_own() -> None:
    harness = ChatHarness(a_task(timezone="Asia/Tokyo"))
    assert "21:00 (Asia/Tokyo)" in harness.say("/tasks")
    assert "21:00 (Asia/Tokyo)" in harness.say(f"/task {SHORT}")
    assert "13:00 (Europe/Berlin)" in harness.say("/tasks", locale="de")


def test_the_details_of_a_snoozed_series() -> None:
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


def test_the_details_of_a_failure_show_the_next_attempt() -> None:
    task = replace(fail_repeatedly(an_action(), 1), last_error="boom\nbang")
    reply = ChatHarness(task).say(f"/task {SHORT}")
    assert f"Action {SHORT}: stretch\nStatus: pending\nDue: " in reply
    assert "\nRetries: 1 of 5\nLast error: boom bang\nNext retry: Tuesday 17 Feb 2026, 12:" in reply


def test_the_details_of_a_blocked_task_show_no_due_time() -> None:
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
def test_the_details_have_the_buttons_of_the_status(
    fields: dict[str, Any], labels: list[str]
) -> None:
    reply = ChatHarness(an_action(**fields)).dispatch(f"/task {SHORT}")
    assert [button.label for button in reply.buttons] == labels


@pytest.mark.parametrize("kind", [Kind.CONTENT_POLICY, Kind.CRASH, Kind.AUTH])
def test_a_task_in_doubt_has_no_advice_about_its_error(kind: Kind) -> None:
    """The effect may have happened: first a person has to find out."""
    doubtful = make_indeterminate(a_task(run=a_run()), status=Status.BLOCKED)
    task = replace(doubtful, last_error="x", last_error_category="a", last_error_kind=kind)
    assert format_diagnosis(task) == f"x ({name_kind(kind)})"
