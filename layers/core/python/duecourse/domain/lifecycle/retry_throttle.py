"""Throttle pending retries: when too many come due at once, spread them over the minutes.

Only retries are throttled. A first attempt has no `next_retry_at`. Each shard of a lane of the due
index is throttled by itself, so that no partition is read for all failures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from duecourse.domain.dispatch.lanes import Lane, partition_of
from duecourse.domain.tasks.ids import shard_of
from duecourse.domain.tasks.task import Task

MAX_THROTTLED_WAIT = timedelta(hours=1)
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class RetryLimit:
    """At most `per_minute` retries a minute, once `pending` of a shard are due close together.

    `per_minute` is for all `shard_count` shards.
    """

    pending: int
    per_minute: int
    shard_count: int

    @property
    def interval(self) -> timedelta:
        """Return the time in which `pending` retries of one shard may start."""
        return timedelta(minutes=1) * self.pending * self.shard_count / self.per_minute

    def partition_of(self, task: Task) -> int:
        """Return the partition of the due index that holds the task's next retry."""
        lane = Lane.REMINDER_RETRY if task.is_reminder else Lane.SLOW_RETRY
        return partition_of(lane, shard_of(task.id, self.shard_count), self.shard_count)

    def window_around(self, due_at: datetime) -> tuple[datetime, datetime]:
        """Return start and end of the time in which less than `pending` others may be due.

        Every interval that contains `due_at` is within it.
        """
        return due_at - self.interval + _MILLISECOND, due_at + self.interval


def can_throttle(due_at: datetime, *, now: datetime) -> bool:
    """Return whether the retry may be throttled. Longer waits spread by themselves."""
    return due_at - now <= MAX_THROTTLED_WAIT


def throttled_until(
    latest_retries: Sequence[datetime], *, limit: RetryLimit, due_at: datetime
) -> datetime:
    """Return when a retry may run that is due at `due_at`, where too many others are due.

    `latest_retries` are the latest of the shard, latest first. The new retry runs an interval after
    the earliest of the last `limit.pending`, so no interval gets more than these.
    """
    if len(latest_retries) < limit.pending:
        return due_at
    return max(due_at, latest_retries[limit.pending - 1] + limit.interval)


def next_attempt(task: Task) -> int:
    return (task.run.attempt if task.run else task.retry_count) + 1
