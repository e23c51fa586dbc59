"""Invariants of quiet hours: a reminder waits for their end, and no longer."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from duecourse.domain.tasks.task import REMINDER
from duecourse.domain.tasks.wait import WaitReason

from local.simulate.checks.changes import is_claim
from local.simulate.checks.tasks import MAX_LATENESS
from local.simulate.observed import Observed

# A worker may read quiet hours that are a minute old, and then take seconds until it claims.
_MAX_AGE = timedelta(seconds=90)


def none_in_quiet_hours(observed: Observed) -> Iterator[str | None]:
    """No reminder starts in the quiet hours of its owner, unless they asked for that run."""
    for change in _list_claims(observed):
        if not _is_held(change.old):
            continue
        due_at, at, skew = change.old.due_at, change.written_at, observed.max_skew
        since = min(at - _MAX_AGE - skew, due_at)
        hours = observed.quiet_log.list_hours(change.old.sender_id, since, at)
        is_quiet = all(_covers(one, moment, skew) for one in hours for moment in (due_at, at))
        text = f"task {observed.name_of(change.task_id)} started at {at} in quiet hours {hours}"
        yield text if is_quiet else None


def held_until_end(observed: Observed) -> Iterator[str | None]:
    """A reminder that quiet hours held back starts within minutes of their end."""
    for change in _list_claims(observed):
        if _is_waiting(change.old):
            late = change.written_at - max(change.old.due_at, observed.faults_ended_at)
            text = f"task {observed.name_of(change.task_id)} started {late} after quiet hours"
            yield text if late > MAX_LATENESS else None


def _list_claims(observed: Observed) -> Iterator[Any]:
    return (one for one in observed.changes if is_claim(one.old, one.new))


def _is_held(task: Any) -> bool:
    """Return whether quiet hours apply: its owner did not ask for this run themselves."""
    is_asked = task.owner_rescheduled_at is not None
    is_of_program = task.created_by is not None or task.repeat is not None
    return bool(task.type == REMINDER and is_of_program and not is_asked)


def _is_waiting(task: Any) -> bool:
    return task.wait is not None and task.wait.reason is WaitReason.QUIET_HOURS


def _covers(hours: str | None, at: datetime, skew: timedelta) -> bool:
    """Return whether the hours cover the moment by every clock. None of them cross midnight."""
    if hours is None:
        return False
    start, end, zone = hours.split(" ")
    first, last = ((at + one).astimezone(ZoneInfo(zone)).time() for one in (-skew, skew))
    return time.fromisoformat(start) <= first <= last < time.fromisoformat(end)
