"""Rebuild what the journal lost of a task from the task's own item.

A stream keeps its records for 24 hours. What the journal could not process until then is gone from
the stream, but a task still holds its last run. Earlier runs of a series are lost.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import replace
from datetime import datetime, timedelta

from duecourse.domain.events.stream_change import StreamChange
from duecourse.domain.tasks.run import Run, RunStatus
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.utc_days import utc_day
from duecourse.ports.journal import Journal

CLOCK_SLACK = timedelta(minutes=5)


def find_lost_change(
    task: Task,
    journal: Journal,
    list_counted: Callable[[str], Set[str]],
    *,
    since: datetime,
    until: datetime,
) -> StreamChange | None:
    """Return the change that ended the task's last run, if the journal or the counters lack it.

    None if the run did not end between `since` and `until`. A success that closed its task is never
    recorded, so it counts as missing. `list_counted` returns the ids of the failed runs that were
    counted on a UTC day.
    """
    run = task.run
    if run is None or run.ended_at is None:
        return None
    if not since - CLOCK_SLACK <= run.ended_at <= until + CLOCK_SLACK:
        return None
    is_recorded = any(record.run.id == run.id for record in journal.list_runs(task.id))
    if is_recorded and _is_counted(run, list_counted):
        return None
    return StreamChange(
        sequence_number=str(task.version),
        written_at=run.ended_at,
        task_id=task.id,
        old=_before_end(task, run),
        new=task,
    )


def _is_counted(run: Run, list_counted: Callable[[str], Set[str]]) -> bool:
    """Return whether a recorded run was counted, too. The counters name those that failed.

    Those that did not begin and end on one day are not named; they were counted with their record,
    most likely.
    """
    ended_at = run.ended_or_started_at
    if not run.is_failure or utc_day(run.started_at) != utc_day(ended_at):
        return True
    return run.id in list_counted(utc_day(ended_at))


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
