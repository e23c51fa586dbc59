"""From one occurrence of a series to the next."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import SkippedOccurrences, Task
from duecourse.domain.tasks.wait import Wait
from duecourse.domain.tasks.wait_text import describe_wait

_ONE_MILLISECOND = timedelta(milliseconds=1)


def advance_series(task: Task, ended: Task, *, at: datetime) -> Task | None:
    """The task waiting for its next occurrence; None where there is none.

    `ended` is the task with its run over, and all else that this changed. A run asked for ahead of
    time leaves its occurrence to come.
    """
    series = task.series
    if series is None:
        return None
    ran_early = task.run is not None and task.run.is_early
    following = task.nominal_at if ran_early else series.next_after(max(task.nominal_at, at))
    if following is None:
        return None
    waiting = replace(
        ended,
        due_at=following,
        nominal_at=following,
        retry_count=0,
        next_retry_at=None,
        guidance=(),
        reviewed_at=None,
        rescheduled_at=None,
        owner_rescheduled_at=None,
        skipped=None if ran_early else missed_occurrences(task, until=at),
    )
    return waiting.move_to(Status.PENDING)


def missed_occurrences(task: Task, *, until: datetime) -> SkippedOccurrences | None:
    """The occurrences that passed after this one until it ended."""
    series = task.series
    count = series.count_between(task.nominal_at, until + _ONE_MILLISECOND) if series else 0
    return SkippedOccurrences(count, f"missed while {_missed_reason(task)}") if count else None


def waited_too_long_for(task: Task) -> Wait | None:
    """What put it off until after its next occurrence, if anything did."""
    following = _next_occurrence_at(task) if task.wait else None
    return task.wait if following is not None and following <= task.due_at else None


def _missed_reason(task: Task) -> str:
    """What went on when the first of them passed, as far as the run that ends now can tell."""
    run, first = task.run, _next_occurrence_at(task)
    if run is None or first is None:
        return "nothing ran"
    if run.waited_for is not None:
        return f"it waited: {describe_wait(run.waited_for)}"
    began_in_time = run.started_at < first
    if run.is_verified or (began_in_time and run.verify_until is not None):
        return "its work was checked"
    if began_in_time and run.error is None:
        return "it ran"
    if began_in_time or run.retry_of is not None:
        return "it was being retried"
    return "it waited" if first <= task.due_at else "nothing ran"


def _next_occurrence_at(task: Task) -> datetime | None:
    return task.series.next_after(task.nominal_at) if task.series else None
