"""The hours of a day in which somebody is not to be disturbed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import Wait, WaitReason
from duecourse.domain.time.timezones import load_timezone, to_instant, to_wall_time

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class QuietPeriod:
    """One night of them, for example. It ends just before `until`."""

    starts_at: datetime
    ends_at: datetime


@dataclass(frozen=True, slots=True)
class QuietHours:
    """Every day from `start` to `end` on the wall of the zone, over midnight where the end comes
    first. Raises ValueError where they are the same: nobody can tell what that means."""

    start: time
    end: time
    timezone: str

    def __post_init__(self) -> None:
        if self.start == self.end:
            raise ValueError("quiet hours that end when they begin would never end, or never begin")
        load_timezone(self.timezone)

    def period_at(self, at: datetime) -> QuietPeriod | None:
        """The one that the instant lies in. Wherever clocks change, it ends when they show `end`
        for the first time."""
        today = to_wall_time(at, load_timezone(self.timezone)).date()
        spans = (self._period_on(day) for day in (today, today - _DAY))
        return next((span for span in spans if span.starts_at <= at < span.ends_at), None)

    def deferred_until(self, at: datetime, *, requested_at: datetime | None) -> datetime | None:
        """Until when waits what would come at this instant; None where it comes.

        What somebody asked for after these quiet hours began comes: they are awake.
        """
        span = self.period_at(at)
        if span is None or (requested_at is not None and requested_at >= span.starts_at):
            return None
        return span.ends_at

    def _period_on(self, day: date) -> QuietPeriod:
        zone = load_timezone(self.timezone)
        last = day if self.start < self.end else day + _DAY
        since = to_instant(datetime.combine(day, self.start), zone)
        return QuietPeriod(since, to_instant(datetime.combine(last, self.end), zone))

    @property
    def description(self) -> str:
        return f"from {self.start:%H:%M} to {self.end:%H:%M} ({self.timezone})"

    def wait(self, until: datetime) -> Wait:
        """Return why a task waits that these quiet hours put off."""
        detail = {"end": f"{self.end:%H:%M}", "zone": self.timezone}
        return Wait(WaitReason.QUIET_HOURS, until=until, detail=detail)

    def to_text(self) -> str:
        return f"{self.start:%H:%M} {self.end:%H:%M} {self.timezone}"

    @classmethod
    def from_text(cls, stored: str) -> QuietHours:
        """Raises ValueError for what is none, or is in a zone that is no more."""
        start, end, zone = stored.split(" ", maxsplit=2)
        return cls(time.fromisoformat(start), time.fromisoformat(end), zone)


def is_deferred_by_quiet_hours(task: Task) -> bool:
    """It waits for the end of its owner's quiet hours."""
    return task.status is Status.PENDING and task.wait_reason is WaitReason.QUIET_HOURS
