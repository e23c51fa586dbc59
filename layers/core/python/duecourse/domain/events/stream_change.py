"""A change as a stream delivers it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from duecourse.domain.events.event import LiveEvent
from duecourse.domain.tasks.task import Task


@dataclass(frozen=True, kw_only=True, slots=True)
class StreamChange:
    """A change of a task, or the event of a circuit breaker.

    `written_at` is the time of the write, rounded down to a second. `is_known` is False if one of
    the two images is unreadable; `new` is then the new task, if at least that one is readable.
    `counted_at`: when a redriven change is counted. `is_counted`: it was counted before, and is not
    counted again. `is_deleted`: a person deleted the task. A task that expired was not deleted, and
    neither was its history.
    """

    sequence_number: str
    written_at: datetime
    task_id: str | None = None
    old: Task | None = None
    new: Task | None = None
    is_known: bool = True
    breaker_events: Sequence[LiveEvent] = ()
    counted_at: datetime | None = None
    is_counted: bool = False
    is_deleted: bool = False
