"""Schedules that leave out ticks while the world settles, when nearly all of them do nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from duecourse.domain.dispatch.lanes import DUE_LANES, lane_of_partition
from duecourse.domain.time.instant import from_text

from local.runtime.schedules import Schedule
from local.testing.lean_aws.table import Table

LONGEST_GAP = timedelta(hours=12)
_INSTANT = timedelta(microseconds=1)


def find_soonest_due(tasks: Table) -> datetime | None:
    """Return the first entry of the due index that a function would act upon, or None."""
    times = [
        item["due_at"]["S"]
        for item in tasks.items.values()
        if "due_shard" in item and lane_of_partition(int(item["due_shard"]["N"])) in DUE_LANES
    ]
    return from_text(min(times)) if times else None


@dataclass
class SettlingSchedule:
    """The ticks of `source`; once `is_settling`, only the first ones after `find_due`.

    The due index has what the functions act upon: due tasks, and expired leases. Blocked tasks time
    out, too, so that there is a tick LONGEST_GAP after the one before.
    """

    source: Schedule
    is_settling: Callable[[], bool]
    find_due: Callable[[], datetime | None]
    _next: datetime | None = None
    _last: datetime | None = None

    def take_due(self, now: datetime) -> Sequence[Callable[[], None]]:
        if self.is_settling() and self._next is not None and now < self._next:
            return ()
        self._last = now
        return self.source.take_due(now)

    def next_at(self, now: datetime, _until: datetime | None = None) -> datetime | None:
        after = now
        if self.is_settling():
            latest = (self._last or now) + LONGEST_GAP  # other schedules do not put it off
            after = max(now, min(self.find_due() or latest, latest) - _INSTANT)
        self._next = self.source.next_at(after, None)
        return self._next
