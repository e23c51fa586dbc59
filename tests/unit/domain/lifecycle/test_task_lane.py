"""The lane of the due index that a task is in."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from duecourse.domain.dispatch.lanes import Lane
from duecourse.domain.lifecycle import user_actions
from duecourse.domain.lifecycle.run_transitions import commit, defer
from duecourse.domain.lifecycle.task_lane import dispatch_of, is_retry_pending, lane_of
from duecourse.domain.lifecycle.verification import request_verification
from duecourse.domain.tasks.run import RunStatus
from duecourse.domain.tasks.run_diagnosis import RunDiagnosis
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import Wait, WaitReason

from tests.support.builders.failures import fail_repeatedly
from tests.support.builders.moments import DAY, HOUR, MILLISECOND, MINUTE, NOW
from tests.support.builders.runs import a_run
from tests.support.builders.tasks import a_task, claim_task

QUIET = Wait(WaitReason.QUIET_HOURS)


def a_pending_retry(wait: timedelta, *, delay: timedelta | None = None, **fields: Any) -> Task:
    diagnosis = RunDiagnosis(delay=delay) if delay is not None else None
    run = a_run(ended_at=NOW, status=RunStatus.PAUSED_TRANSIENT, diagnosis=diagnosis)
    return a_task(**{"run": run, "due_at": NOW + wait, "next_retry_at": NOW + wait, **fields})


def an_occurrence_after_the_first() -> Task:
    series = a_task(repeat="daily")
    return commit(claim_task(series), None, at=series.due_at)


@pytest.mark.parametrize(
    ("task", "lane"),
    [
        (a_task(), Lane.NEW_REMINDER),
        (a_task(repeat="daily"), Lane.NEW_REMINDER),
        (a_task(subject="story-1"), Lane.REMINDER),
        (an_occurrence_after_the_first(), Lane.REMINDER),
        (defer(a_task(), until=NOW + DAY, wait=QUIET), Lane.REMINDER),
        (user_actions.run_now(a_task(due_at=NOW + DAY), at=NOW), Lane.REMINDER),
        (a_task(type="action"), Lane.SLOW),
        (a_task(type="webhook", repeat="daily"), Lane.SLOW),
        (fail_repeatedly(a_task(), 1), Lane.REMINDER_RETRY),
        (fail_repeatedly(a_task(type="action"), 1), Lane.SLOW_RETRY),
        (user_actions.pause(a_task()), Lane.PAUSED),
        (user_actions.pause(fail_repeatedly(a_task(), 1)), Lane.PAUSED),
        (a_task(status=Status.FAILED), Lane.FAILED),
        (a_task(status=Status.BLOCKED), None),
        (a_task(status=Status.CANCELLED), None),
        (commit(claim_task(a_task()), None, at=NOW), None),
    ],
)
def test_the_lane_follows_from_type_status_and_history(task: Task, lane: Lane | None) -> None:
    assert lane_of(task) is lane


def test_finished_work_that_awaits_verification_has_a_lane() -> None:
    task = claim_task(a_task(type="action"))
    task = request_verification(task, "ok", at=NOW, verify_until=NOW + DAY)
    assert lane_of(task) is Lane.VERIFICATION


@pytest.mark.parametrize(
    "task",
    [
        a_task(),
        a_task(type="action"),
        a_task(subject="story-1"),
        an_occurrence_after_the_first(),
        defer(a_task(), until=NOW + DAY, wait=QUIET),
        fail_repeatedly(a_task(), 1),
        fail_repeatedly(a_task(type="action"), 2),
        user_actions.retry(fail_repeatedly(a_task(), 3), at=NOW),
    ],
    ids=[
        *("new", "action", "with a subject", "later occurrence", "deferred"),
        *("retry", "retry of an action", "retried by a user"),
    ],
)
def test_a_claim_does_not_move_the_task_to_another_lane(task: Task) -> None:
    assert lane_of(claim_task(task, at=task.due_at)) is lane_of(task)


@pytest.mark.parametrize(
    ("wait", "lane"),
    [
        (2 * MINUTE, Lane.REMINDER_RETRY),
        (HOUR, Lane.REMINDER_RETRY),
        (HOUR + MILLISECOND, Lane.LONG_RETRY),
        (DAY, Lane.LONG_RETRY),
    ],
)
def test_a_delay_of_more_than_an_hour_is_long(wait: timedelta, lane: Lane) -> None:
    assert lane_of(a_pending_retry(wait)) is lane


def test_a_throttled_retry_stays_in_its_lane() -> None:
    assert lane_of(a_pending_retry(5 * HOUR, delay=2 * MINUTE)) is Lane.REMINDER_RETRY


def test_jitter_beyond_an_hour_is_not_taken_for_throttling() -> None:
    assert lane_of(a_pending_retry(63 * MINUTE, delay=HOUR)) is Lane.LONG_RETRY


def test_a_retry_without_a_run_does_not_wait_for_long() -> None:
    assert lane_of(a_pending_retry(DAY, run=None)) is Lane.REMINDER_RETRY


def test_a_task_waiting_for_its_budget_waits_for_long() -> None:
    run = a_run(ended_at=NOW, status=RunStatus.PAUSED_BUDGET)
    assert lane_of(a_pending_retry(MINUTE, run=run)) is Lane.LONG_RETRY


@pytest.mark.parametrize(
    "fields",
    [
        {"next_retry_at": None},
        {"paused": True},
        {"status": Status.IN_PROGRESS},
        {"status": Status.BLOCKED},
        {"status": Status.FAILED},
    ],
)
def test_a_task_that_is_not_scheduled_for_a_retry_has_no_pending_one(
    fields: dict[str, Any],
) -> None:
    assert is_retry_pending(a_pending_retry(MINUTE))
    assert not is_retry_pending(a_pending_retry(MINUTE, **fields))


def test_a_dispatch_names_the_lane() -> None:
    task = replace(a_task(type="action"), due_at=NOW + HOUR)
    dispatch = dispatch_of(task)
    assert (dispatch.due_at, dispatch.task_id, dispatch.lane) == (NOW + HOUR, task.id, Lane.SLOW)
