"""Retries that wait, and the storm rule: too many at once come back in waves.

Only retries are ever held: a first attempt has no `next_retry_at` and asks nobody here.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum

from duecourse.domain.tasks.run import Run, RunStatus
from duecourse.domain.tasks.task import Task

PACE = timedelta(minutes=1)
LONGEST_HELD_WAIT = timedelta(hours=1)
_MOST_JITTER = 1.1


class Lane(StrEnum):
    SOON = "soon"  # counted by the storm rule, and held by it
    LONG = "long"  # spread enough by their own long waits


def held_until(
    latest: Sequence[datetime], *, limit: int, due_at: datetime, now: datetime
) -> datetime:
    """When a retry comes that asked for `due_at`; never earlier.

    `latest` are the latest pending retries of the lane "soon", latest first: if there are `limit`
    of them, one more comes a minute after the first of those, so that no minute has more.
    """
    if len(latest) < limit or due_at - now > LONGEST_HELD_WAIT:
        return due_at
    return max(due_at, latest[limit - 1] + PACE)


def retry_lane(task: Task) -> Lane | None:
    """By how long the retry asked to wait; None where the task waits for no retry.

    However long it was held or parked since, it stays in its lane: the queue would seem to have
    drained. What waits for a budget is no part of a storm.
    """
    if not task.is_waiting or task.next_retry_at is None:
        return None
    run = task.run
    if run is None or run.ended_at is None:
        return Lane.SOON
    if run.status is RunStatus.PAUSED_BUDGET:
        return Lane.LONG
    wait = min(task.next_retry_at - run.ended_at, _wait_asked_for(run))
    return Lane.SOON if wait <= LONGEST_HELD_WAIT else Lane.LONG


def attempt_to_come(task: Task) -> int:
    return (task.run.attempt if task.run else task.retry_count) + 1


def _wait_asked_for(run: Run) -> timedelta:
    """At most, jitter included; without a note of it, anything."""
    delay = run.diagnosis.delay if run.diagnosis else None
    return timedelta.max if delay is None else delay * _MOST_JITTER
