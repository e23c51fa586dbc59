"""Keep what one committed change of a task brought."""

from __future__ import annotations

from datetime import datetime

from duecourse.domain.history import ended_run, events_between
from duecourse.domain.task import Task
from duecourse.ports import Journal


def record_history(old: Task | None, new: Task | None, *, at: datetime, journal: Journal) -> None:
    """A task that aged out (`new` is None) leaves its history as it is."""
    if new is None:
        return
    events = events_between(old, new, at=at)
    run = ended_run(old, new)
    if events or run:
        journal.write(new, events, run)
