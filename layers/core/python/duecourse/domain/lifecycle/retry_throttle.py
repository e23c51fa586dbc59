"""Retries that wait, and the storm rule: too many at once come back in waves.

Only retries are ever held: a first attempt has no `next_retry_at` and asks nobody here.
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
    SOON = "soon"  # counted by the storm rule, and held by it
    LONG = "long"  # spread enough by their own long waits


def throttled_until(
    latest_retries: Sequence[datetime], *, limit: int, due_at: datetime, now: datetime
) -> datetime:
    """When a retry comes that asked for `due_at`; never earlier.

    `latest` are the latest pending retries of the lane "soon", latest first: if there are `limit`
    of them, one more comes a minute after the first of those, so that no minute has more.
    """
    if len(latest_retries) < limit or due_at - now > MAX_THROTTLED_WAIT:
        return due_at
    return max(due_at, latest_retries[limit - 1] + RELEASE_INTERVAL)


def retry_lane(task: Task) -> RetryLane | None:
    """By how long the retry asked to wait; None where the task waits for no retry.

    However long it was held or parked since, it stays in its lane: the queue would seem to have
    drained. What waits for a budget is no part of a storm.
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
    """At most, jitter included; without a note of it, anything."""
    delay = run.diagnosis.delay if run.diagnosis else None
    return timedelta.max if delay is None else delay * _MAX_JITTER_FACTOR
