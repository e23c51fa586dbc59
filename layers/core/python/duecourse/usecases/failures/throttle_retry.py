"""Delay a retry if too many others are due at the same time."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from duecourse.domain.lifecycle.retry_throttle import RetryLimit, can_throttle, throttled_until
from duecourse.domain.tasks.task import Task
from duecourse.ports.tasks import TaskStore

MEMORY = timedelta(seconds=5)


@dataclass(frozen=True)
class RetryThrottle:
    """`crowded` remembers until when a partition had no room, and when that was seen."""

    store: TaskStore
    limit: RetryLimit
    crowded: dict[int, tuple[datetime, datetime]] = field(default_factory=dict)

    def find_time(self, task: Task, due_at: datetime, *, now: datetime) -> datetime:
        """Return when the retry of the task may run; `due_at` unless too many others do then.

        One query, also in a storm: the container remembers for some seconds that there is no room.
        """
        if not can_throttle(due_at, now=now):
            return due_at
        partition = self.limit.partition_of(task)
        if not (self._is_crowded(partition, due_at, now) or self._has_no_room(partition, due_at)):
            return due_at
        latest = self.store.list_latest_due(partition, self.limit.pending)
        throttled = throttled_until(latest, limit=self.limit, due_at=due_at)
        self.crowded[partition] = (throttled, now)
        return throttled

    def _is_crowded(self, partition: int, due_at: datetime, now: datetime) -> bool:
        until, seen_at = self.crowded.get(partition, (due_at, now))
        return due_at < until and abs(now - seen_at) <= MEMORY

    def _has_no_room(self, partition: int, due_at: datetime) -> bool:
        start, end = self.limit.window_around(due_at)
        count = self.store.count_due(partition, start=start, end=end, limit=self.limit.pending)
        return count >= self.limit.pending
