"""Apply a person's answer about an effect of which nobody knows whether it has happened."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from enum import StrEnum

from duecourse.domain.errors import InvalidStateError
from duecourse.domain.lifecycle.user_actions import reschedule
from duecourse.domain.tasks.run import MutationStatus, RunStatus
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import truncate_to_millisecond


class Resolution(StrEnum):
    """A person's answer on whether an indeterminate effect has happened."""

    APPLIED = "applied"
    NOT_APPLIED = "not_applied"
    SKIP = "skip"


def resolve_indeterminate(task: Task, resolution: Resolution, *, at: datetime) -> Task:
    """Apply a person's answer about an indeterminate effect.

    APPLIED does not repeat the effect, NOT_APPLIED repeats it, SKIP cancels the run. A series has
    already moved on, so only its last run is corrected or made up for.
    """
    run = task.run
    if run is None or not run.is_indeterminate or not can_resolve(task):
        raise InvalidStateError(
            f"task {task.short_id} is {task.status}: it has no unknown outcome to resolve"
        )
    at = truncate_to_millisecond(at)
    match resolution:
        case Resolution.APPLIED:
            return _complete_as_applied(replace(task, run=run.mark_applied(None)), at=at)
        case Resolution.NOT_APPLIED:
            if task.paused:
                raise InvalidStateError(f"task {task.short_id} is paused: resume it first")
            not_applied = replace(task, run=run.with_mutation_status(MutationStatus.FAILED))
            return reschedule(not_applied, at=at, retry_count=task.retry_count)
        case Resolution.SKIP:
            cancelled_run = replace(run, status=RunStatus.CANCELLED)
            if task.status is Status.PENDING:
                return replace(task, run=cancelled_run, skipped=None).move_to(Status.PENDING)
            closed = replace(task, run=cancelled_run, closed_at=at, wait=None)
            return closed.move_to(Status.CANCELLED)


def _complete_as_applied(task: Task, *, at: datetime) -> Task:
    if task.status is Status.PENDING:
        return replace(task, failed_occurrences=0, skipped=None).move_to(Status.PENDING)
    if task.verify or (task.run is not None and task.run.has_emit):
        return reschedule(task, at=at, retry_count=task.retry_count)
    completed = replace(task, delivered_at=at, closed_at=at, wait=None)
    return completed.move_to(Status.COMPLETED)


def can_resolve(task: Task) -> bool:
    """Return True if the task's status allows resolving an indeterminate effect.

    It is blocked, or it is a series that has gone on.
    """
    return task.status is Status.BLOCKED or has_gone_on(task)


def has_gone_on(task: Task) -> bool:
    """Return True if the task is a series that waits for an occurrence, not for a retry."""
    is_series = task.repeat is not None
    return is_series and task.status is Status.PENDING and not task.next_retry_at
