"""Rebuild what the journal lost of a task from the task's own item.

A stream keeps its records for 24 hours. What the journal could not process until then is gone from
the stream, but a task still holds its last run. Earlier runs of a series are lost.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from duecourse.domain.dispatch.unjournaled import StreamPosition
from duecourse.domain.events.stream_change import StreamChange
from duecourse.domain.journal.run_record import closing_events
from duecourse.domain.tasks.event import EventType
from duecourse.domain.tasks.run import Run, RunStatus
from duecourse.domain.tasks.run_diagnosis import NOT_DIAGNOSED
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.utc_days import utc_day
from duecourse.ports.journal import Journal
from duecourse.usecases.journal.counted_runs import CountedRuns

_CLOSING_TYPES = (EventType.TASK_FAILED, EventType.TASK_CANCELLED)
CLOCK_SLACK = timedelta(minutes=5)


def find_lost_change(
    task: Task, journal: Journal, counted: CountedRuns, *, position: StreamPosition, now: datetime
) -> StreamChange | None:
    """Return the change that ended the task's last run, if the journal or the counters lack it.

    None if the run did not end in the time of `position`. A success that closed its task has no
    record, so its name in the counters decides. If older code counted without names, nothing can
    tell, and it counts as processed: nobody is told twice.
    """
    run = _run_ended_within(task, position)
    if run is None or counted.has_name(run, now=now):
        return None
    if any(record.run.id == run.id for record in journal.list_runs(task.id)):
        is_lost = _has_name_if_counted(run)
    else:
        is_lost = not closing_events(task) or counted.has_names_since(run, now=now)
    return derive_change(task, journal, position) if is_lost else None


def derive_change(task: Task, journal: Journal, position: StreamPosition) -> StreamChange | None:
    """Return the change that ended the task's last run, if that was in the time of `position`.

    If the journal has a later end of the task, the change does not bring that end again.
    """
    run = _run_ended_within(task, position)
    if run is None:
        return None
    after = _before_close(task, run) if _is_closed_later(task, run, journal) else task
    return StreamChange(
        sequence_number=str(task.version),
        written_at=run.ended_or_started_at,
        task_id=task.id,
        old=_before_end(after, run),
        new=after,
    )


def _run_ended_within(task: Task, position: StreamPosition) -> Run | None:
    run = task.run
    if run is None or run.ended_at is None:
        return None
    since, until = position.started_at - CLOCK_SLACK, position.ended_at + CLOCK_SLACK
    return run if since <= run.ended_at <= until else None


def _is_closed_later(task: Task, run: Run, journal: Journal) -> bool:
    """Return whether a change after the failed run closed the task, and the journal has it."""
    return run.is_failure and any(
        one.event.type in _CLOSING_TYPES and one.event.at > run.ended_or_started_at
        for one in journal.list_events(task.id)
    )


def _before_close(task: Task, run: Run) -> Task:
    """Return the closed task as its failed run left it: to be retried, or blocked."""
    ended_at, delay = run.ended_or_started_at, (run.diagnosis or NOT_DIAGNOSED).delay
    return replace(
        task,
        status=Status.BLOCKED if delay is None else Status.PENDING,
        next_retry_at=None if delay is None else ended_at + delay,
        blocked_at=ended_at if delay is None else None,
        closed_at=None,
        version=task.version - 1,
    )


def _has_name_if_counted(run: Run) -> bool:
    """Return whether the counters name such a recorded run: one that failed on a single day.

    The others were counted with their record, most likely.
    """
    return run.is_failure and utc_day(run.started_at) == utc_day(run.ended_or_started_at)


def _before_end(task: Task, run: Run) -> Task:
    """Return the task as it was before its run ended, as far as it can be known."""
    note = run.diagnosis
    was_counted = note is not None and note.counted
    running = replace(
        run, status=RunStatus.ACTIVE, ended_at=None, error=None, category=None, diagnosis=None
    )
    return replace(
        task,
        status=Status.PENDING_VERIFICATION if run.is_verified else Status.IN_PROGRESS,
        run=running,
        retry_count=max(0, task.retry_count - was_counted),
        next_retry_at=None,
        wait=None,
        skipped=None,
        version=task.version - 1,
    )
