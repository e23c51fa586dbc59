"""From one occurrence of a series to the next."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from duecourse.domain.status import Status
from duecourse.domain.task import Skipped, Task

_INSTANT = timedelta(milliseconds=1)


def next_occurrence(task: Task, changes: dict[str, Any], *, at: datetime) -> Task | None:
    """The task waiting for its next occurrence; None where there is none.

    A run asked for ahead of time leaves its occurrence to come.
    """
    series = task.series
    if series is None:
        return None
    ran_early = task.run is not None and task.run.is_early
    following = task.nominal_at if ran_early else series.next_after(max(task.nominal_at, at))
    if following is None:
        return None
    carried = {**changes, "retry_count": 0, "next_retry_at": None, "guidance": ()}
    carried |= {"asked_at": None, "owner_asked_at": None}
    return task.moved(
        Status.PENDING,
        **carried,
        due_at=following,
        nominal_at=following,
        skipped=None if ran_early else missed(task, until=at),
    )


def missed(task: Task, *, until: datetime) -> Skipped | None:
    """The occurrences that passed after this one while nothing ran."""
    series = task.series
    count = series.count_between(task.nominal_at, until + _INSTANT) if series else 0
    return Skipped(count, "missed while nothing ran") if count else None
