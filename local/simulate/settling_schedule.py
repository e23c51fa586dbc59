"""Schedules that leave out ticks while the world settles, when nearly all of them do nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from duecourse.domain.dispatch.lanes import DUE_LANES, lane_of_partition
from duecourse.domain.time.instant import from_text

from local.runtime.schedules import Schedule
from local.testing.lean_aws.table import Table

_INSTANT = timedelta(microseconds=1)


@dataclass(frozen=True)
class Pace:
    """`after_due`: how long after the soonest due task it ticks; None if that does not matter.

    `longest_gap`: it ticks so often at least.
    """

    after_due: timedelta | None = timedelta(0)
    longest_gap: timedelta = timedelta(days=3)


# The sweeper acts on tasks that the scanner should have sent, and on blocked ones that time out.
PACES: Mapping[str, Pace] = {
    "SweeperFunction": Pace(timedelta(minutes=4), timedelta(days=1)),
    "AlertsFunction": Pace(None),
}


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
    """The ticks of `source`; once `is_settling`, only those that `pace` wants.

    `find_due` returns the first entry of the due index, which has what the functions act upon: due
    tasks, and expired leases.
    """

    source: Schedule
    is_settling: Callable[[], bool]
    find_due: Callable[[], datetime | None]
    pace: Pace = Pace()
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
            latest = (self._last or now) + self.pace.longest_gap  # others do not put it off
            after = max(now, min(self._find_wanted() or latest, latest) - _INSTANT)
        self._next = self.source.next_at(after, None)
        return self._next

    def _find_wanted(self) -> datetime | None:
        if self.pace.after_due is None:
            return None
        due = self.find_due()
        return None if due is None else due + self.pace.after_due
