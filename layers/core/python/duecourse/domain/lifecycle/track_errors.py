"""Count a failure among the recent errors of its subject, or of its task if it has none."""

from __future__ import annotations

from dataclasses import replace

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


def _record(run: Run, errors: RecentErrors) -> tuple[Run, RecentErrors]:
    category, at = run.error_category, run.ended_or_started_at
    if errors.is_newly_blocked(category, at=at):
        run = replace(run, diagnosis=replace(run.diagnosis or NOT_DIAGNOSED, is_newly_blocked=True))
    return run, errors.record(category, at=at)
