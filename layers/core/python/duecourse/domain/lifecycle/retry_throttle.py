"""Throttle pending retries: when too many come due at once, spread them over the minutes.

Only retries are throttled. A first attempt has no `next_retry_at`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum

from duecourse.domain.tasks.run import Run, RunStatus
from duecourse.domain.tasks.task import Task

RELEASE_INTERVAL = timedelta(minutes=1)
MAX_THROTTLED_WAIT = timedelta(hours=1)
_MAX_JITTER_FACTOR = 1.1


class RetryLane(StrEnum):
    SOON = "soon"  # counted and throttled
    LONG = "long"  # not throttled: long delays spread by themselves


def throttled_until(
    latest_retries: Sequence[datetime], *, limit: int, due_at: datetime, now: datetime
) -> datetime:
    """Return when a retry due at `due_at` may run; never earlier than `due_at`.

    `latest_retries` are the latest pending retries of the lane "soon", latest first. If there are
    `limit` of them, the new retry runs RELEASE_INTERVAL after the earliest of those, so no minute
    gets more than `limit`. Retries that wait longer than MAX_THROTTLED_WAIT are not throttled.
    """
    if len(latest_retries) < limit or due_at - now > MAX_THROTTLED_WAIT:
        return due_at
    return max(due_at, latest_retries[limit - 1] + RELEASE_INTERVAL)


def retry_lane(task: Task) -> RetryLane | None:
    """Return the lane of a pending retry by the delay it asked for, or None if none is pending.

    Throttling and deferral do not move a retry to another lane; otherwise the queue would seem to
    have drained. Retries that wait for a budget are always in the long lane.
    """
    if not task.is_waiting or task.next_retry_at is None:
        return None
    run = task.run
    if run is None or run.ended_at is None:
        return RetryLane.SOON
    if run.status is RunStatus.PAUSED_BUDGET:
        return RetryLane.LONG
    wait = min(task.next_retry_at - run.ended_at, _requested_wait(run))
    return RetryLane.SOON if wait <= MAX_THROTTLED_WAIT else RetryLane.LONG


def next_attempt(task: Task) -> int:
    return (task.run.attempt if task.run else task.retry_count) + 1


def _requested_wait(run: Run) -> timedelta:
    """Return the longest delay the retry can have asked for, jitter included.

    Unlimited if the run has no stored delay.
    """
    delay = run.diagnosis.delay if run.diagnosis else None
    return timedelta.max if delay is None else delay * _MAX_JITTER_FACTOR
