"""What happened, read off two versions of a task."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from duecourse.domain import attempt, change
from duecourse.domain.history import Event, ended_run, events_between, started
from duecourse.domain.status import Status
from duecourse.domain.task import Task

from tests.unit.builders import (
    BOOM,
    DAY,
    HOUR,
    ID,
    LEASE,
    MINUTE,
    NOW,
    a_task,
    claimed,
    failed_times,
    run_of,
)

WRITTEN_AT = NOW + DAY  # the stream's own time, which none of the runs below took


def told(old: Task | None, new: Task) -> list[tuple[str, dict[str, Any]]]:
    return [(event.type, event.detail) for event in events_between(old, new, at=WRITTEN_AT)]


def kinds(old: Task | None, new: Task) -> list[str]:
    return [kind for kind, _ in told(old, new)]


def moment(old: Task | None, new: Task) -> datetime:
    [event] = events_between(old, new, at=WRITTEN_AT)
    return event.at


def failing(task: Task, failures: int) -> tuple[Task, Task]:
    """The last failure of so many: the task before it and after."""
    before = failed_times(task, failures - 1)
    running = claimed(before, "last", at=before.due_at)
    return running, attempt.failed(running, BOOM, at=before.due_at)


# Beginnings


def test_a_new_task_was_created_when_it_says() -> None:
    task = a_task(created_at=NOW - HOUR)
    detail = {"due_at": "2026-02-17T12:00:00.000Z", "type": "reminder"}
    assert events_between(None, task, at=WRITTEN_AT) == [
        Event("task:created", ID, NOW - HOUR, detail)
    ]


def test_a_claim_is_told_by_its_run_and_not_twice() -> None:
    assert told(a_task(), claimed(a_task())) == []


def test_a_run_tells_that_it_started() -> None:
    event = started(ID, run_of(claimed(a_task(), "run-7", at=NOW)))
    detail = {"run_id": "run-7", "attempt": 1, "reason": "first"}
    assert event == Event("task:started", ID, NOW, detail)


# Ends of runs


@pytest.mark.parametrize(
    ("type_", "kind"), [("reminder", "task:delivered"), ("action", "task:completed")]
)
def test_a_success_is_told_in_the_words_of_its_type(type_: str, kind: str) -> None:
    running = claimed(a_task(type=type_))
    assert kinds(running, attempt.committed(running, None, at=NOW)) == [kind]


def test_a_success_says_how_late_it_was() -> None:
    running = claimed(a_task())
    [(_, detail)] = told(running, attempt.committed(running, None, at=NOW + MINUTE))
    assert detail == {
        "run_id": "run-1",
        "nominal_at": "2026-02-17T12:00:00.000Z",
        "late_ms": 60_000,
    }


def test_nothing_is_later_than_never() -> None:
    running = claimed(a_task(due_at=NOW + HOUR))
    [(_, detail)] = told(running, attempt.committed(running, None, at=NOW))
    assert detail["late_ms"] == 0


def test_the_end_of_a_run_is_told_at_the_moment_it_ended() -> None:
    running = claimed(a_task())
    assert moment(running, attempt.committed(running, None, at=NOW + MINUTE)) == NOW + MINUTE


def test_a_failure_tells_of_the_retry_to_come() -> None:
    assert told(*failing(a_task(), 1)) == [
        (
            "task:retry_scheduled",
            {
                "run_id": "last",
                "nominal_at": "2026-02-17T12:00:00.000Z",
                "error": "boom",
                "category": "unknown",
                "run_status": "paused:transient",
                "next_retry_at": "2026-02-17T12:02:00.000Z",
                "attempt": 2,
            },
        )
    ]


def test_a_crash_tells_of_the_retry_to_come() -> None:
    running = claimed(a_task())
    [(kind, detail)] = told(running, attempt.crashed(running, at=NOW + LEASE))
    assert (kind, detail["run_status"]) == ("task:retry_scheduled", "crashed")


@pytest.mark.parametrize("repeat", [None, "daily"])
def test_the_last_failure_is_told_as_such(repeat: str | None) -> None:
    assert kinds(*failing(a_task(repeat=repeat), 3)) == ["task:failed"]


def test_a_series_paused_by_its_failures_says_why() -> None:
    events = told(*failing(a_task(repeat="daily"), 9))
    assert [kind for kind, _ in events] == ["task:failed", "task:paused"]
    assert events[1][1] == {"reason": "3 occurrences failed in a row"}


def test_what_an_outage_skipped_is_told_after_the_run_that_made_up_for_it() -> None:
    running = claimed(a_task(repeat="daily"), at=NOW + 2 * DAY)
    events = told(running, attempt.committed(running, None, at=NOW + 2 * DAY))
    assert [kind for kind, _ in events] == ["task:delivered", "task:skipped"]
    assert events[1][1] == {
        "count": 2,
        "reason": "missed while nothing ran",
        "next_at": "2026-02-20T12:00:00.000Z",
    }


# What people do


def test_a_cancelled_task_is_told_at_the_moment_it_was_cancelled() -> None:
    task = a_task()
    after = change.cancelled(task, at=NOW)
    assert (kinds(task, after), moment(task, after)) == (["task:cancelled"], NOW)


def test_a_change_is_never_told_as_if_it_came_before_the_task() -> None:
    """The stream rounds the time of a write down."""
    task = a_task(created_at=WRITTEN_AT + MINUTE)
    assert moment(task, change.paused(task)) == WRITTEN_AT + MINUTE


def test_cancelling_after_a_failure_does_not_tell_the_failure_again() -> None:
    task = failed_times(a_task(), 1)
    assert kinds(task, change.cancelled(task, at=NOW)) == ["task:cancelled"]


@pytest.mark.parametrize(("paused", "kind"), [(False, "task:paused"), (True, "task:resumed")])
def test_pause_and_resume_are_told(paused: bool, kind: str) -> None:
    task = a_task(paused=paused)
    assert told(task, task.moved(Status.PENDING, paused=not paused)) == [(kind, {})]


def test_a_resumed_series_tells_what_it_skipped() -> None:
    task = a_task(paused=True, repeat="daily")
    resumed = change.resumed(task, at=NOW + HOUR)
    assert kinds(task, resumed) == ["task:resumed", "task:changed", "task:skipped"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("description", "walk"),
        ("due_at", NOW + HOUR),
        ("repeat", "daily"),
        ("timezone", "Europe/Berlin"),
        ("payload", {"a": 1}),
        ("policy", "agent"),
        ("max_retries", 9),
    ],
)
def test_an_edit_names_the_fields_it_changed(field: str, value: Any) -> None:
    task = a_task()
    [(kind, detail)] = told(task, change.edited(task, {field: value}))
    assert (kind, detail["fields"]) == ("task:changed", [field])


def test_an_edit_that_changes_nothing_is_not_told() -> None:
    assert told(a_task(), change.edited(a_task(), {"description": "stretch"})) == []


# Runs to keep


def test_a_run_in_course_is_not_kept_yet() -> None:
    assert ended_run(a_task(), claimed(a_task())) is None


def test_a_run_is_kept_by_the_write_that_ended_it() -> None:
    before, after = failing(a_task(), 1)
    assert ended_run(before, after) == after.run


def test_a_run_is_not_kept_again_by_later_writes() -> None:
    task = failed_times(a_task(), 1)
    read_again = replace(change.paused(task), run=replace(run_of(task)))  # from the stream's image
    assert ended_run(task, read_again) is None
