"""When a task is handed to the queue: by the scanner ahead of its time, or by its creator.

The scanner looks LOOKAHEAD past each whole minute. What falls due before a look that can be
trusted to see it (the index may lag) is sent by whoever wrote it: the fast lane.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

SCAN_INTERVAL = timedelta(minutes=1)
LOOKAHEAD = timedelta(seconds=130)
INDEX_LAG = timedelta(seconds=30)
MAX_DELAY = timedelta(minutes=15)
EARLY_TOLERANCE = timedelta(seconds=1, milliseconds=500)


@dataclass(frozen=True, order=True, slots=True)
class Dispatch:
    """A task and the due time it was sent for; a message for another due time is stale."""

    due_at: datetime
    task_id: str


def scan_horizon(now: datetime) -> datetime:
    """How far a look at this moment sees.

    Counted from the whole minute, so that a look that began some seconds late does not overtake
    the writers who reckon with it.
    """
    return _floor_to_minute(now) + LOOKAHEAD


def is_due_soon(due_at: datetime, *, now: datetime) -> bool:
    first_look = _floor_to_minute(due_at - LOOKAHEAD) + SCAN_INTERVAL
    return first_look < now + INDEX_LAG


def delay_seconds(due_at: datetime, *, now: datetime) -> int:
    """Whole seconds, rounded down: the worker sleeps off the rest. Never over SQS's limit."""
    left = min(max(due_at - now, timedelta(0)), MAX_DELAY)
    return int(left.total_seconds())


def is_early(due_at: datetime, *, now: datetime) -> bool:
    """More is left than rounding explains: a clock is off, and the message must wait again."""
    return due_at - now > EARLY_TOLERANCE


def _floor_to_minute(instant: datetime) -> datetime:
    return instant.replace(second=0, microsecond=0)
