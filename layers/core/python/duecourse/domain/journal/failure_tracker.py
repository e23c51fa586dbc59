"""A subject, or a task without one, that failed repeatedly."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from duecourse.domain.failures.subject import Subject
from duecourse.domain.tasks.failure_kind import Kind
from duecourse.domain.tasks.recent_errors import RecentErrors
from duecourse.domain.tasks.task import Task


@dataclass(frozen=True, kw_only=True, slots=True)
class FailureTracker:
    """The recent errors of one subject or task. `version` is that of the task, 0 for a subject.

    `last_kind`: the kind of the last error, if it is known.
    """

    subject: str | None = None
    task_id: str | None = None
    errors: RecentErrors
    last_kind: Kind | None = None
    version: int = 0

    @property
    def last_error_at(self) -> datetime:
        return self.errors.latest[-1]


def tracker_of_task(task: Task) -> FailureTracker:
    return FailureTracker(
        task_id=task.id, errors=task.recent_errors, last_kind=_last_kind(task), version=task.version
    )


def tracker_of_subject(subject: Subject) -> FailureTracker:
    return FailureTracker(
        subject=subject.id, errors=subject.recent_errors, last_kind=_last_kind(subject)
    )


def _last_kind(failed: Task | Subject) -> Kind | None:
    """Return the kind of the last of the recent errors, unless something else was stored since."""
    is_of_last = failed.last_error_category == failed.recent_errors.last_category
    return failed.last_error_kind if is_of_last else None


def find_changed_tracker(old: Task | None, new: Task) -> FailureTracker | None:
    """Return the tracker if this write brought, or took back, a repeated failure.

    Only for a task without a subject: subjects hold their own errors, in their own table.
    """
    is_unchanged = old is not None and _tracked(old) == _tracked(new)
    was_repeated = old is not None and old.recent_errors.repeated_since is not None
    is_repeated = new.recent_errors.repeated_since is not None or was_repeated
    if new.subject is not None or is_unchanged or not is_repeated:
        return None
    return tracker_of_task(new)


def _tracked(task: Task) -> tuple[RecentErrors, Kind | None]:
    return task.recent_errors, _last_kind(task)
