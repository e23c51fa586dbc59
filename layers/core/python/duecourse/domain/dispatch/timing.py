"""When a task is sent to the queue: by the scanner ahead of its due time, or by its writer.

Each minute, the scanner sends what is due up to a lookahead after that whole minute. A task that is
due before a scan can reliably see it (the index may lag) is sent by the code that wrote it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from duecourse.domain.dispatch.lanes import RETRY_LANES, Lane

SCAN_INTERVAL = timedelta(minutes=1)
LOOKAHEAD = timedelta(seconds=130)
# Retries wait for 30 seconds or two minutes, most of them. With this lookahead their writer sends
# the former and the scanner the latter; with the other one, both would send half of the latter.
RETRY_LOOKAHEAD = timedelta(seconds=100)
INDEX_LAG = timedelta(seconds=30)
MAX_DELAY = timedelta(minutes=15)
LATE_TOLERANCE = timedelta(milliseconds=100)
MAX_SLEEP = timedelta(milliseconds=50)
_SECOND = timedelta(seconds=1)
EARLY_TOLERANCE = timedelta(seconds=1, milliseconds=500)


@dataclass(frozen=True, order=True, slots=True)
class Dispatch:
    """A queue message for one task. It is stale if the task's `due_at` has changed since.

    `lane` chooses the queue; None if the message was sent by code before lanes.
    """

    due_at: datetime
    task_id: str
    lane: Lane | None = field(default=None, compare=False)


def lookahead_of(lane: Lane | None) -> timedelta:
    return RETRY_LOOKAHEAD if lane in RETRY_LANES else LOOKAHEAD


def scan_horizon(now: datetime, lane: Lane | None = None) -> datetime:
    """Return the latest due time in the lane that a scan at `now` sends.

    It is counted from the whole minute, as in `is_due_soon`, so that a scan that starts some
    seconds late does not also send what writers send themselves.
    """
    return _floor_to_minute(now) + lookahead_of(lane)


def is_due_soon(due_at: datetime, *, now: datetime, lane: Lane | None = None) -> bool:
    """Return whether no scan of the lane reliably sends a task that is written at `now`."""
    first_scan = _floor_to_minute(due_at - lookahead_of(lane)) + SCAN_INTERVAL
    return first_scan < now + INDEX_LAG


def delay_seconds(due_at: datetime, *, now: datetime) -> int:
    """Return the SQS delay in whole seconds, at most SQS's limit.

    It is rounded down, and the worker sleeps for the rest, unless rounding up makes the message
    LATE_TOLERANCE late at most.
    """
    left = min(max(due_at - now, timedelta(0)) + LATE_TOLERANCE, MAX_DELAY)
    return left // _SECOND


def aligned_send_time(due_at: datetime, *, now: datetime) -> datetime:
    """Return the first time from `now` on at which a message should be sent.

    Sent then, it becomes visible MAX_SLEEP before the due time at most.
    """
    left = due_at - now
    early = left - delay_seconds(due_at, now=now) * _SECOND
    if left > MAX_DELAY or early <= MAX_SLEEP:
        return now
    return now + early - MAX_SLEEP


def is_early(due_at: datetime, *, now: datetime) -> bool:
    """Return whether a message arrived earlier than rounding explains and must be requeued."""
    return due_at - now > EARLY_TOLERANCE


def _floor_to_minute(instant: datetime) -> datetime:
    return instant.replace(second=0, microsecond=0)
