"""How many open tasks one sender may have in chat, and how often a series may come."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from duecourse.domain.errors import DuecourseError
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.recurrence import RecurrenceRule
from duecourse.domain.time.smallest_interval import smallest_interval

_MAKE_ROOM = "Cancel one to make room: /tasks lists them, /cancel <id> ends one."


class LimitReachedError(DuecourseError):
    """A limit of chat refuses a new task. The message is the whole reply."""


@dataclass(frozen=True, slots=True)
class ChatLimits:
    """The limits of each sender. `min_interval` is the shortest time between two occurrences."""

    open_tasks: int
    open_series: int
    min_interval: timedelta

    def check_room(self, open_tasks: Collection[Task], *, is_series: bool) -> None:
        """Raise LimitReachedError if the sender of `open_tasks` may not have one more."""
        if len(open_tasks) >= self.open_tasks:
            raise LimitReachedError(f"You have reached {self.open_tasks} open tasks. {_MAKE_ROOM}")
        series_count = sum(task.repeat is not None for task in open_tasks)
        if is_series and series_count >= self.open_series:
            raise LimitReachedError(
                f"You have reached {self.open_series} repeating tasks. {_MAKE_ROOM}"
            )

    def check_interval(self, repeat: str, anchor: datetime) -> None:
        """Raise LimitReachedError if the series comes too often. `anchor` is a wall-clock time."""
        interval = smallest_interval(RecurrenceRule.parse(repeat), anchor)
        if interval is not None and interval < self.min_interval:
            minutes = self.min_interval // timedelta(minutes=1)
            every = f"{minutes} minutes" if minutes > 1 else "minute"
            raise LimitReachedError(f"That is too often. The shortest interval is: every {every}")
