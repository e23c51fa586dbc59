"""The shards that the scanner reads, cached for a minute."""

from __future__ import annotations

from collections.abc import Set
from datetime import datetime, timedelta

from duecourse.domain.dispatch.lanes import shard_of_partition
from duecourse.ports.dispatch import ScanCursors
from duecourse.ports.runtime import Clock

CACHE_TTL = timedelta(seconds=60)


class ScannedShards:
    """Returns every shard that may hold a task.

    The scanner never drops a shard, so these include the shards of a formerly higher shard count.
    """

    def __init__(self, cursors: ScanCursors, clock: Clock) -> None:
        self._cursors = cursors
        self._clock = clock
        self._cached: tuple[Set[int], datetime] | None = None

    def __call__(self) -> Set[int]:
        now = self._clock.now()
        if self._cached is None or now - self._cached[1] >= CACHE_TTL:
            self._cached = frozenset(map(shard_of_partition, self._cursors.load())), now
        return self._cached[0]
