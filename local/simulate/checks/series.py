"""Series have the occurrences that an oracle of the simulation expects, for every kind of rule."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from duecourse.domain.tasks.status import Status
from duecourse.domain.time.instant import from_text

from local.simulate.actor import Created
from local.simulate.checks.schedule import list_rescheduled
from local.simulate.checks.tasks import MAX_LATENESS
from local.simulate.expected_occurrences import ExpectedSeries, expected_series
from local.simulate.observed import Observed

_Changes = Sequence[Any]


def occurrences_follow(observed: Observed) -> Iterator[str | None]:
    """A series goes on with the first occurrence after both the last one and the end of its run."""
    for one, series, changes in _list_series(observed):
        for change in changes:
            old, new = change.old, change.new
            if old is None or new is None or new.nominal_at == old.nominal_at:
                continue
            expected = series.find_after(max(old.nominal_at, _ended_at(change)))
            is_right = new.nominal_at == expected
            text = f"task {one.number} ({series.repeat}): {new.nominal_at} follows {old.nominal_at}"
            yield None if is_right else f"{text}, not {expected}"


def series_continues(observed: Observed) -> Iterator[str | None]:
    """A series begins with its first occurrence, and at the end waits for one that is to come."""
    now = from_text(observed.now)
    for one, series, changes in _list_series(observed):
        text = f"task {one.number} ({series.repeat})"
        first, expected = changes[0].new.nominal_at, next(series.iterate(), None)
        yield None if first == expected else f"{text} begins at {first}, not {expected}"
        last = changes[-1].new
        if last is None or last.paused or last.wait or last.next_retry_at:
            continue
        if last.status is Status.PENDING:
            is_waiting = last.nominal_at > now - MAX_LATENESS
            yield None if is_waiting else f"{text} has not run at {last.nominal_at}"
        elif last.status in (Status.DELIVERED, Status.COMPLETED):
            following = series.find_after(last.nominal_at)
            is_over = following is None or following <= _ended_at(changes[-1])
            yield None if is_over else f"{text} ended, though {following} is to come"


def _list_series(observed: Observed) -> Iterator[tuple[Created, ExpectedSeries, _Changes]]:
    """Yield the series whose time nobody changed, with the changes of their tasks."""
    rescheduled = list_rescheduled(observed)
    by_task: defaultdict[str, list[Any]] = defaultdict(list)
    for change in observed.changes:
        by_task[change.task_id or ""].append(change)
    for one in observed.created.values():
        series, changes = expected_series(one.request), by_task[one.id]
        is_complete = bool(changes) and all(change.new is not None for change in changes)
        if series is not None and one.id not in rescheduled and is_complete:
            yield one, series, changes


def _ended_at(change: Any) -> datetime:
    """Return when the run ended, by the clock of its container, or else when it was written."""
    old, new = change.old, change.new
    run = new.run
    if run is not None and run.ended_at is not None and (old is None or old.run != run):
        ended_at: datetime = run.ended_at
        return ended_at
    written_at: datetime = change.written_at
    return written_at
