"""Count a failure among the recent errors of its subject, or of its task if it has none."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from duecourse.domain.failures.subject import Subject
from duecourse.domain.lifecycle.current_run import current_run
from duecourse.domain.tasks.recent_errors import RecentErrors
from duecourse.domain.tasks.run import Run
from duecourse.domain.tasks.run_diagnosis import NOT_DIAGNOSED
from duecourse.domain.tasks.task import Task


def track_error(
    task: Task, subject: Subject | None, updated_subject: Subject | None
) -> tuple[Task, Subject | None]:
    """Return the task and the subject to save, with the failure of the task's run counted.

    `subject` is the subject as loaded, `updated_subject` as the decision changed it, if it did.
    """
    run = current_run(task)
    if subject is None:
        tracked, errors = _record(run, task.recent_errors)
        return replace(task, run=tracked, recent_errors=errors), None
    to_save = updated_subject or replace(subject, version=subject.version + 1)
    tracked, errors = _record(run, subject.recent_errors)
    return replace(task, run=tracked), replace(to_save, recent_errors=errors)


def track_correction(
    task: Task, subject: Subject | None, updated_subject: Subject | None, *, at: datetime
) -> tuple[Task, Subject | None]:
    """Return the task and the subject to save after a correction of the run that ended at `at`.

    Its failure was counted before. It gets its new category, or is forgotten if there was none.
    """
    run = current_run(task)
    if subject is None:
        corrected, errors = _correct(run, task.recent_errors, at)
        return replace(task, run=corrected, recent_errors=errors), None
    to_save = updated_subject or replace(subject, version=subject.version + 1)
    corrected, errors = _correct(run, subject.recent_errors, at)
    return replace(task, run=corrected), replace(to_save, recent_errors=errors)


def _correct(run: Run, errors: RecentErrors, at: datetime) -> tuple[Run, RecentErrors]:
    if not run.is_failure:
        return run, errors.forget(at=at)
    return _mark_newly_blocked(run, errors, at), errors.correct(run.error_category, at=at)


def _record(run: Run, errors: RecentErrors) -> tuple[Run, RecentErrors]:
    at = run.ended_or_started_at
    return _mark_newly_blocked(run, errors, at), errors.record(run.error_category, at=at)


def _mark_newly_blocked(run: Run, errors: RecentErrors, at: datetime) -> Run:
    if not errors.is_newly_blocked(run.error_category, at=at):
        return run
    note = run.diagnosis or NOT_DIAGNOSED
    return replace(run, diagnosis=replace(note, is_newly_blocked=True))
