"""Counting a failure among the recent errors of its subject, or of its task without one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from duecourse.domain.lifecycle.track_errors import track_error
from duecourse.domain.tasks.recent_errors import NO_ERRORS, RecentErrors
from duecourse.domain.tasks.run_diagnosis import RunDiagnosis

from tests.support.builders.failures import a_subject, diagnosis_of
from tests.support.builders.moments import HOUR, NOW
from tests.support.builders.runs import DIAGNOSIS, a_failed_run, run_of
from tests.support.builders.tasks import a_task

ONE_ERROR = NO_ERRORS.record("timeout", at=NOW)
OVER_BUDGET: dict[str, Any] = {"category": "budget_exceeded"}


def test_a_task_without_a_subject_counts_its_own_errors() -> None:
    task, subject = track_error(a_task(run=a_failed_run()), None, None)
    assert (task.recent_errors, subject) == (ONE_ERROR, None)
    again, _ = track_error(replace(task, run=a_failed_run(at=NOW + HOUR)), None, None)
    assert again.recent_errors == ONE_ERROR.record("timeout", at=NOW + HOUR)


def test_a_subject_counts_the_errors_of_its_tasks() -> None:
    loaded = a_subject(version=3, recent_errors=ONE_ERROR)
    decided = replace(loaded, failure_count=1, version=4)
    task, subject = track_error(a_task(run=a_failed_run(at=NOW + HOUR)), loaded, decided)
    assert task.recent_errors == NO_ERRORS
    expected = ONE_ERROR.record("timeout", at=NOW + HOUR)
    assert subject == replace(decided, recent_errors=expected)


def test_a_subject_that_the_decision_left_unchanged_is_saved_with_the_error() -> None:
    """Also a failure that says nothing about its subject is an error of the subject's tasks."""
    _, subject = track_error(a_task(run=a_failed_run()), a_subject(version=3), None)
    assert subject == a_subject(version=4, recent_errors=ONE_ERROR)


def test_a_new_subject_is_created_with_the_error() -> None:
    _, subject = track_error(a_task(run=a_failed_run()), a_subject(), None)
    assert subject == a_subject(version=1, recent_errors=ONE_ERROR)


@pytest.mark.parametrize("has_subject", [True, False])
def test_the_first_budget_error_of_a_day_marks_its_run(has_subject: bool) -> None:
    def track(errors: RecentErrors, run: dict[str, Any]) -> RunDiagnosis:
        subject = a_subject(recent_errors=errors) if has_subject else None
        failed = a_task(run=a_failed_run(**run), recent_errors=errors)
        return diagnosis_of(track_error(failed, subject, None)[0])

    blocked = NO_ERRORS.record("budget_exceeded", at=NOW)
    assert track(NO_ERRORS, OVER_BUDGET) == replace(DIAGNOSIS, is_newly_blocked=True)
    assert track(NO_ERRORS, {**OVER_BUDGET, "diagnosis": None}).is_newly_blocked
    assert track(blocked, OVER_BUDGET) == DIAGNOSIS
    assert track(NO_ERRORS, {}) == DIAGNOSIS


def test_a_crash_without_a_category_is_counted_as_unknown() -> None:
    crashed = a_failed_run(category=None, diagnosis=None, ended_at=None)
    task, _ = track_error(a_task(run=crashed), None, None)
    assert task.recent_errors == NO_ERRORS.record("unknown", at=NOW)
    assert run_of(task) == crashed
