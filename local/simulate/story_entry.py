"""One thing that happened in a simulation, as a line of its story."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum


class Weight(IntEnum):
    """How much a line matters: the highest ones are left out first."""

    DRIVER = 0  # what people did, and what struck
    CHANGE = 1  # of a task
    SENT = 2  # messages, to queues and to the outside
    DERIVED = 3  # the journal and other tables
    ROUTINE = 4


@dataclass(frozen=True)
class StoryEntry:
    """`tasks` are the names of those that it concerns; empty if it may concern any."""

    at: datetime
    actor: str
    text: str
    weight: Weight
    tasks: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return f"{format_time(self.at)}  {self.actor:<12}  {self.text}"


def format_time(at: datetime) -> str:
    """Return the date and the time of day, such as `02-17 12:04:05.120`."""
    return f"{at:%m-%d %H:%M:%S}.{at.microsecond // 1000:03}"
