"""The hours of a day in which somebody is not to be disturbed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import Wait, WaitReason
from duecourse.domain.time.timezones import to_instant, to_wall, zone_named

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class QuietSpan:
    """One night of them, for example. It ends just before `until`."""

    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class QuietTime:
    """Every day from `start` to `end` on the wall of the zone, over midnight where the end comes
    first. Raises ValueError where they are the same: nobody can tell what that means."""

    start: time
    end: time
    zone: str

    def __post_init__(self) -> None:
        if self.start == self.end:
            raise ValueError("quiet hours that end when they begin would never end, or never begin")
        zone_named(self.zone)

    def span_at(self, at: datetime) -> QuietSpan | None:
        """The one that the instant lies in. Wherever clocks change, it ends when they show `end`
        for the first time."""
        today = to_wall(at, zone_named(self.zone)).date()
        spans = (self._span(day) for day in (today, today - _DAY))
        return next((span for span in spans if span.since <= at < span.until), None)

    def holds_until(self, at: datetime, *, wanted_at: datetime | None) -> datetime | None:
        """Until when waits what would come at this instant; None where it comes.

        What somebody asked for after these quiet hours began comes: they are awake.
        """
        span = self.span_at(at)
        if span is None or (wanted_at is not None and wanted_at >= span.since):
            return None
        return span.until

    def _span(self, day: date) -> QuietSpan:
        zone = zone_named(self.zone)
        last = day if self.start < self.end else day + _DAY
        since = to_instant(datetime.combine(day, self.start), zone)
        return QuietSpan(since, to_instant(datetime.combine(last, self.end), zone))

    @property
    def spoken(self) -> str:
        return f"from {self.start:%H:%M} to {self.end:%H:%M} ({self.zone})"

    def wait(self, until: datetime) -> Wait:
        """Return why a task waits that these quiet hours put off."""
        detail = {"end": f"{self.end:%H:%M}", "zone": self.zone}
        return Wait(WaitReason.QUIET_HOURS, until=until, detail=detail)

    def to_text(self) -> str:
        return f"{self.start:%H:%M} {self.end:%H:%M} {self.zone}"

    @classmethod
    def from_text(cls, stored: str) -> QuietTime:
        """Raises ValueError for what is none, or is in a zone that is no more."""
        start, end, zone = stored.split(" ", maxsplit=2)
        return cls(time.fromisoformat(start), time.fromisoformat(end), zone)


def is_held(task: Task) -> bool:
    """It waits for the end of its owner's quiet hours."""
    return task.status is Status.PENDING and task.wait_reason is WaitReason.QUIET_HOURS
