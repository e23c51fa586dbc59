"""Snoozing moves one occurrence and leaves the schedule unchanged."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from duecourse.domain.errors import InvalidStateError
from duecourse.domain.journal.history import events_between
from duecourse.domain.lifecycle import run_transitions, user_actions
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task

from tests.support.builders.failures import fail_repeatedly
from tests.support.builders.moments import DAY, HOUR, MINUTE, NOW
from tests.support.builders.tasks import a_task, claim_task

DAILY: dict[str, Any] = {"repeat": "daily"}


def run_to_end(task: Task) -> Task:
    running = claim_task(task, at=task.due_at)
    return run_transitions.commit(running, None, at=task.due_at + MINUTE / 60)


def test_snooze_changes_only_due_at() -> None:
    task = a_task(**DAILY)
    snoozed = user_actions.snooze(task, until=NOW + HOUR)
    assert snoozed == replace(task, due_at=NOW + HOUR, version=task.version + 1)


@pytest.mark.parametrize("until", [NOW + MINUTE, NOW + HOUR, NOW + DAY - MINUTE])
def test_the_next_occurrence_keeps_its_scheduled_time(until: datetime) -> None:
    after = run_to_end(user_actions.snooze(a_task(**DAILY), until=until))
    assert (after.due_at, after.nominal_at, after.skipped) == (NOW + DAY, NOW + DAY, None)


@pytest.mark.parametrize("until", [NOW + DAY - MINUTE / 2, NOW + DAY, NOW + 3 * DAY])
def test_snooze_until_the_next_occurrence_is_rejected(until: datetime) -> None:
    with pytest.raises(InvalidStateError, match=r"comes again on Wednesday 18 Feb 2026, 12:0"):
        user_actions.snooze(a_task(**DAILY), until=until)


@pytest.mark.parametrize("fields", [{}, {"repeat": "FREQ=DAILY;COUNT=1"}])
def test_a_task_without_a_next_occurrence_can_be_snoozed_for_long(fields: dict[str, Any]) -> None:
    assert user_actions.snooze(a_task(**fields), until=NOW + 30 * DAY).due_at == NOW + 30 * DAY


def test_snooze_moves_a_pending_retry() -> None:
    task = fail_repeatedly(a_task(), 1)
    snoozed = user_actions.snooze(task, until=NOW + HOUR)
    assert (snoozed.due_at, snoozed.next_retry_at) == (NOW + HOUR, NOW + HOUR)
    assert snoozed.retry_count == task.retry_count


def test_snooze_until_the_same_time_changes_nothing() -> None:
    task = user_actions.snooze(a_task(), until=NOW + HOUR)
    assert user_actions.snooze(task, until=NOW + HOUR) is task


def test_the_history_records_the_snooze() -> None:
    task = a_task()
    [event] = events_between(task, user_actions.snooze(task, until=NOW + HOUR), at=NOW)
    assert event.type == "task:changed"
    assert event.detail == {"fields": ["due_at"], "due_at": "2026-02-17T13:00:00.000Z"}


def test_a_paused_task_must_be_resumed_before_a_snooze() -> None:
    with pytest.raises(InvalidStateError, match="is paused: resume it first"):
        user_actions.snooze(a_task(paused=True), until=NOW + HOUR)


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.PENDING])
def test_only_a_pending_task_can_be_snoozed(status: Status) -> None:
    with pytest.raises(InvalidStateError, match="cannot be snoozed"):
        user_actions.snooze(a_task(status=status), until=NOW + HOUR)


def test_a_snoozed_task_keeps_its_due_time_through_pause_and_resume() -> None:
    paused = user_actions.pause(user_actions.snooze(a_task(**DAILY), until=NOW + HOUR))
    resumed = user_actions.resume(paused, at=NOW + MINUTE)
    assert (resumed.due_at, resumed.nominal_at, resumed.skipped) == (NOW + HOUR, NOW, None)
