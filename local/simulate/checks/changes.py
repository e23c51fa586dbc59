"""Invariants of one write of a task, checked when it happens."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from duecourse.domain.tasks.status import TRANSITIONS, Status

_WITH_ACTIVE_RUN = frozenset({Status.IN_PROGRESS, Status.PENDING_VERIFICATION})


@dataclass(frozen=True)
class TaskWrite:
    """`ended_runs`: the runs of this task that had ended before. `max_skew`: between two clocks."""

    old: Any
    new: Any
    written_at: datetime
    max_skew: timedelta
    ended_runs: Set[str]

    @property
    def name(self) -> str:
        return f"task {self.new.short_id}"


def legal_move(write: TaskWrite) -> Iterator[str | None]:
    old, new = write.old, write.new
    is_legal = (
        new.status is Status.PENDING
        if old is None
        else old.status is new.status or new.status in TRANSITIONS[old.status]
    )
    before = "nothing" if old is None else old.status
    yield None if is_legal else f"{write.name} moved from {before} to {new.status}"


def version_grows(write: TaskWrite) -> Iterator[str | None]:
    """Every write adds one to the version, except a note of a late report, which adds nothing.

    Code before version 0.1 stored a new task without a version.
    """
    old, new = write.old, write.new
    before = 0 if old is None else old.version
    is_note = old is not None and new.late_report not in (None, old.late_report)
    is_right = new.version == (before if is_note else before + 1)
    is_right = is_right or (old is None and new.version == 0)
    yield None if is_right else f"{write.name}: version {new.version} follows {before}"


def one_active_run(write: TaskWrite) -> Iterator[str | None]:
    """A run that has not ended is not replaced by another one, and a task that ended has none."""
    before, after = write.old and write.old.run, write.new.run
    is_open = before is not None and before.ended_at is None
    is_replaced = is_open and (after is None or after.id != before.id)
    yield f"{write.name}: run {before.id[:8]} was replaced before its end" if is_replaced else None
    is_active = after is not None and after.ended_at is None
    is_right = is_active == (write.new.status in _WITH_ACTIVE_RUN)
    state = "open" if is_active else "ended"
    yield None if is_right else f"{write.name} is {write.new.status}, its run is {state}"


def ended_for_good(write: TaskWrite) -> Iterator[str | None]:
    """A run that has ended does not become active again."""
    run = write.new.run
    if run is not None:
        is_revived = run.ended_at is None and run.id in write.ended_runs
        yield f"{write.name}: run {run.id[:8]} had ended and is open again" if is_revived else None


def retries_counted(write: TaskWrite) -> Iterator[str | None]:
    """`retry_count` grows by one with a counted failure, and never without one.

    It becomes 0 with a new occurrence, a new time or a person's retry, and it shrinks by one if
    the last failure is corrected.
    """
    old, new = write.old, write.new
    if old is None:
        return
    grown = new.retry_count - old.retry_count
    is_reset = new.retry_count == 0
    if _is_counted_failure(old, new):
        # After an early run, the occurrence that comes next may be the one that it was early for.
        is_next = new.nominal_at != old.nominal_at or new.run.is_early
        is_right = grown == 1 or (is_reset and is_next)
    else:
        is_right = grown == 0 or is_reset or _is_redecided(old, new)
    text = f"{write.name}: retry_count {old.retry_count} to {new.retry_count}"
    yield None if is_right else f"{text} at version {new.version}"


def _is_counted_failure(old: Any, new: Any) -> bool:
    run = new.run
    has_ended = run is not None and run.ended_at is not None and old.run != run
    has_just_ended = has_ended and old.run is not None and old.run.ended_at is None
    return bool(has_just_ended and run.diagnosis is not None and run.diagnosis.counted)


def _is_redecided(old: Any, new: Any) -> bool:
    """Return whether a failure that had ended its run was classified again or corrected."""
    return bool(old.run and new.run and old.run.ended_at and old.run != new.run)


def unknown_kept(write: TaskWrite) -> Iterator[str | None]:
    """What newer code added to a task is still there after every write of this code."""
    if write.old is not None and write.old.unknown_attributes:
        before = write.old.unknown_attributes
        is_kept = before.items() <= write.new.unknown_attributes.items()
        yield None if is_kept else f"{write.name} lost {sorted(before)}"


def due_not_before_nominal(write: TaskWrite) -> Iterator[str | None]:
    """A task is due at its occurrence or later, unless somebody asked for another time.

    The clock that told the time may be behind the one that told when the run started.
    """
    new = write.new
    is_right = new.due_at >= new.nominal_at - write.max_skew or new.rescheduled_at is not None
    yield None if is_right else f"{write.name} is due {new.due_at}, nominally {new.nominal_at}"


def claimed_when_due(write: TaskWrite) -> Iterator[str | None]:
    """No worker claims a task before it is due, whatever the worker's clock says."""
    old, new = write.old, write.new
    if is_claim(old, new):
        is_due = write.written_at >= old.due_at - write.max_skew
        yield None if is_due else f"{write.name} is due {old.due_at}, claimed {write.written_at}"


def claimed_unpaused(write: TaskWrite) -> Iterator[str | None]:
    if is_claim(write.old, write.new):
        yield f"{write.name} was claimed while it was paused" if write.old.paused else None


def is_claim(old: Any, new: Any) -> bool:
    """Return whether a worker claimed the task."""
    is_running = new is not None and new.status is Status.IN_PROGRESS
    return is_running and old is not None and old.run_id != new.run_id
