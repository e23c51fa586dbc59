"""Transitions that a user requests. A task in progress is refused: only its worker may write it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from duecourse.domain.errors import InvalidStateError
from duecourse.domain.lifecycle.current_run import retryable_run
from duecourse.domain.lifecycle.quiet_hours import is_deferred_by_quiet_hours
from duecourse.domain.tasks.run import RunStatus
from duecourse.domain.tasks.skipped import SkippedOccurrences, SkipReason
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.task_edit import TaskEdit
from duecourse.domain.text.formatting import format_time
from duecourse.domain.time.instant import truncate_to_millisecond

MIN_SNOOZE_GAP = timedelta(minutes=1)  # between a snoozed occurrence and the next one


def cancel(task: Task, *, at: datetime) -> Task:
    """Cancel the task. Cancelling a cancelled task changes nothing."""
    if task.status is Status.CANCELLED:
        return task
    _refuse_while_running(task, "cancelled")
    closed_at = truncate_to_millisecond(at)
    run = task.run
    if run is not None and run.ended_at is None:  # it was awaiting verification
        run = run.end(RunStatus.CANCELLED, at=closed_at)
    closed = replace(
        task, run=run, closed_at=closed_at, next_retry_at=None, skipped=None, wait=None
    )
    return closed.move_to(Status.CANCELLED)


def pause(task: Task) -> Task:
    _require_pending(task, "paused")
    if task.paused:
        return task
    return replace(task, paused=True, skipped=None).move_to(Status.PENDING)


def resume(task: Task, *, at: datetime) -> Task:
    """Resume a paused task: a series at its next future occurrence, an overdue one-shot task now.

    A task deferred by quiet hours becomes due now, so that the worker checks them again: they may
    have changed meanwhile.
    """
    _require_pending(task, "resumed")
    if not task.paused:
        return task
    at = truncate_to_millisecond(at)
    resumed = replace(
        task, paused=False, failed_occurrences=0, skipped=None, wait=None, waiting_since=None
    )
    if is_deferred_by_quiet_hours(task) and task.due_at > at:
        resumed = replace(resumed, due_at=at, next_retry_at=at if task.next_retry_at else None)
    elif task.due_at <= at:
        resumed = replace(resumed, rescheduled_at=at)  # it runs because of this request
    is_in_future = max(task.nominal_at, task.due_at) > at  # it may have been deferred
    if task.repeat is not None and not is_in_future and not task.next_retry_at:
        resumed = _from_next_occurrence(resumed, at=at)
    return resumed.move_to(Status.PENDING)


def _from_next_occurrence(task: Task, *, at: datetime) -> Task:
    following = task.series.next_after(at) if task.series else None
    if task.series is None or following is None:
        raise InvalidStateError(
            f"task {task.short_id} has no occurrence left: cancel it or edit it"
        )
    missed_count = 1 + task.series.count_between(task.nominal_at, following)
    return replace(
        clear_rescheduled(task),
        due_at=following,
        nominal_at=following,
        skipped=SkippedOccurrences(missed_count, SkipReason.PAUSED),
    )


def snooze(
    task: Task,
    *,
    until: datetime,
    display_timezone: str | None = None,
    requested_at: datetime | None = None,
) -> Task:
    """Postpone this occurrence to `until`. The series is not affected.

    `requested_at` is when the snooze was requested. Raises InvalidStateError if `until` reaches the
    next occurrence; the message shows that occurrence in `display_timezone`.
    """
    _require_pending(task, "snoozed")
    if task.paused:
        raise InvalidStateError(f"task {task.short_id} is paused: resume it first")
    until = truncate_to_millisecond(until)
    following = task.series.next_after(task.nominal_at) if task.series else None
    if following is not None and until > following - MIN_SNOOZE_GAP:
        raise InvalidStateError(
            f"task {task.short_id} comes again on "
            f"{format_time(following, display_timezone or task.timezone)}: choose a shorter snooze"
        )
    if until == task.due_at:
        return task
    snoozed = replace(
        task,
        due_at=until,
        next_retry_at=until if task.next_retry_at else None,
        rescheduled_at=requested_at,
        skipped=None,
        wait=None,
    )
    return snoozed.move_to(Status.PENDING)


def run_now(task: Task, *, at: datetime) -> Task:
    """Make the task due at `at`. A series keeps its scheduled occurrence."""
    _require_pending(task, "run")
    if task.paused:
        raise InvalidStateError(f"task {task.short_id} is paused: resume it first")
    if task.due_at <= at and not task.next_retry_at and not task.wait:
        return task  # already queued: a new due time would make its message stale
    return reschedule(task, at=at, retry_count=task.retry_count)


def retry(task: Task, *, at: datetime) -> Task:
    """Retry the task now and reset its `retry_count` to 0.

    It must have failed, be blocked, or wait for a retry.
    """
    _refuse_while_running(task, "retried")
    _refuse_if_indeterminate(task)
    if task.paused and task.status is Status.PENDING:
        raise InvalidStateError(f"task {task.short_id} is paused: resume it first")
    is_ended = task.status in (Status.FAILED, Status.BLOCKED)
    if not is_ended and task.next_retry_at is None:
        raise InvalidStateError(
            f"task {task.short_id} is {task.status}: it has no failure to retry"
        )
    return reschedule(task, at=at, retry_count=0)


def unblock(task: Task, *, at: datetime) -> Task:
    """Make a blocked task due now and keep its retry count."""
    _refuse_while_running(task, "unblocked")
    _refuse_if_indeterminate(task)
    if task.status is not Status.BLOCKED:
        raise InvalidStateError(f"task {task.short_id} is {task.status}: it is not blocked")
    return reschedule(task, at=at, retry_count=task.retry_count)


def clear_rescheduled(task: Task) -> Task:
    """Remove the record that a person chose the task's due time."""
    return replace(task, rescheduled_at=None, owner_rescheduled_at=None)


def _refuse_if_indeterminate(task: Task) -> None:
    if task.status is Status.BLOCKED and task.run is not None and task.run.is_unsafe_to_repeat:
        raise InvalidStateError(
            f"task {task.short_id} may or may not have happened: resolve it first, "
            "as applied, not_applied or skip"
        )


def reschedule(task: Task, *, at: datetime, retry_count: int) -> Task:
    due_at = truncate_to_millisecond(at)
    rescheduled = replace(
        task,
        due_at=due_at,
        rescheduled_at=due_at,
        next_retry_at=None,
        retry_count=retry_count,
        paused=False,
        closed_at=None,
        skipped=None,
        wait=None,
        waiting_since=None,
    )
    return rescheduled.move_to(Status.PENDING)


def edit(task: Task, edit: TaskEdit) -> Task:
    _require_pending(task, "edited")
    if edit.timing is not None:
        _refuse_if_possibly_applied(task)
    return replace(edit.apply_to(task), skipped=None).move_to(Status.PENDING)


def _refuse_if_possibly_applied(task: Task) -> None:
    """Refuse to change the time if the effect may have happened.

    A new time would be a new occurrence, which starts over and repeats the effect.
    """
    run = retryable_run(task)
    if run is None or run.is_rejected:
        return
    if run.is_applied or run.is_unsafe_to_repeat:
        raise InvalidStateError(
            f"task {task.short_id} may have happened already: its time cannot be changed"
        )


def _require_pending(task: Task, verb: str) -> None:
    _refuse_while_running(task, verb)
    if task.status is not Status.PENDING:
        raise InvalidStateError(f"task {task.short_id} is {task.status}: it cannot be {verb}")


def _refuse_while_running(task: Task, verb: str) -> None:
    if task.status is Status.IN_PROGRESS:
        raise InvalidStateError(f"task {task.short_id} is running right now: it cannot be {verb}")
