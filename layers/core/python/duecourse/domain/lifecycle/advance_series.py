"""Move a recurring task from one occurrence to the next, and count the occurrences it missed."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from duecourse.domain.tasks.skipped import SkippedOccurrences, SkipReason
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import Wait

_ONE_MILLISECOND = timedelta(milliseconds=1)


def advance_series(task: Task, ended: Task, *, at: datetime) -> Task | None:
    """Return the task pending at its next occurrence, or None if the series has no more.

    `ended` is `task` with its run ended and every other change of that transition applied. After an
    early run (run now) the same occurrence is still to come, so it stays the next one.
    """
    series = task.series
    if series is None:
        return None
    is_early_run = task.run is not None and task.run.is_early
    following = task.nominal_at if is_early_run else series.next_after(max(task.nominal_at, at))
    if following is None:
        return None
    pending = replace(
        ended,
        due_at=following,
        nominal_at=following,
        retry_count=0,
        next_retry_at=None,
        guidance=(),
        reviewed_at=None,
        waiting_since=None,
        rescheduled_at=None,
        owner_rescheduled_at=None,
        skipped=None if is_early_run else missed_occurrences(task, until=at),
    )
    return pending.move_to(Status.PENDING)


def missed_occurrences(task: Task, *, until: datetime) -> SkippedOccurrences | None:
    """Return the occurrences that passed after the current one, up to and including `until`."""
    series = task.series
    count = series.count_between(task.nominal_at, until + _ONE_MILLISECOND) if series else 0
    return SkippedOccurrences(count, _skip_reason(task)) if count else None


def waited_too_long_for(task: Task) -> Wait | None:
    """Return the task's wait if it deferred the task past its next occurrence, else None."""
    following = _next_occurrence_at(task) if task.wait else None
    return task.wait if following is not None and following <= task.due_at else None


def _skip_reason(task: Task) -> SkipReason:
    """Return the reason by what the task was doing when the first missed occurrence passed.

    Judges by the run that ends now, so it knows nothing of earlier runs.
    """
    run, first = task.run, _next_occurrence_at(task)
    if run is None or first is None:
        return SkipReason.OUTAGE
    if run.waited_for is not None:
        return SkipReason.DEFERRED
    is_begun_before = run.started_at < first
    if run.is_verified or (is_begun_before and run.verify_until is not None):
        return SkipReason.VERIFICATION_OVERLAPPED
    if is_begun_before and run.error is None:
        return SkipReason.RUN_OVERLAPPED
    if is_begun_before or run.retry_of is not None:
        return SkipReason.RETRY_OVERLAPPED
    return SkipReason.DEFERRED if first <= task.due_at else SkipReason.OUTAGE


def _next_occurrence_at(task: Task) -> datetime | None:
    return task.series.next_after(task.nominal_at) if task.series else None
