"""When a task is sent to the queue: by the scanner ahead of its due time, or by its writer.

Each minute, the scanner sends what is due up to LOOKAHEAD after that whole minute. A task that is
due before a scan can reliably see it (the index may lag) is sent by the code that wrote it.
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
    """A queue message for one task. It is stale if the task's `due_at` has changed since."""

    due_at: datetime
    task_id: str


def scan_horizon(now: datetime) -> datetime:
    """Return the latest due time that a scan at `now` sends.

    It is counted from the whole minute, as in `is_due_soon`, so that a scan that starts some
    seconds late does not also send what writers send themselves.
    """
    return _floor_to_minute(now) + LOOKAHEAD


def is_due_soon(due_at: datetime, *, now: datetime) -> bool:
    first_scan = _floor_to_minute(due_at - LOOKAHEAD) + SCAN_INTERVAL
    return first_scan < now + INDEX_LAG


def delay_seconds(due_at: datetime, *, now: datetime) -> int:
    """Return the SQS delay in whole seconds, rounded down and at most SQS's limit.

    The worker sleeps for the rest.
    """
    left = min(max(due_at - now, timedelta(0)), MAX_DELAY)
    return int(left.total_seconds())


def is_early(due_at: datetime, *, now: datetime) -> bool:
    """Return whether a message arrived earlier than rounding explains and must be requeued."""
    return due_at - now > EARLY_TOLERANCE


def _floor_to_minute(instant: datetime) -> datetime:
    return instant.replace(second=0, microsecond=0)
