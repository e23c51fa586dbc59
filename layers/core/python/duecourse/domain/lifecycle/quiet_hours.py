"""Quiet hours: the part of a day in which an owner receives no reminders."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import Wait, WaitReason
from duecourse.domain.time.dst import to_instant
from duecourse.domain.time.timezones import load_timezone, to_wall_time

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class QuietPeriod:
    """One instance of quiet hours, such as one night. `ends_at` is exclusive."""

    starts_at: datetime
    ends_at: datetime


@dataclass(frozen=True, slots=True)
class QuietHours:
    """Daily quiet hours from `start` to `end`, in wall-clock time of `timezone`.

    They cross midnight if `end` is before `start`. Raises ValueError if both are equal.
    """

    start: time
    end: time
    timezone: str

    def __post_init__(self) -> None:
        if self.start == self.end:
            raise ValueError("quiet hours must end at another time than they start")
        load_timezone(self.timezone)

    def period_at(self, at: datetime) -> QuietPeriod | None:
        """Return the quiet period that contains `at`, or None.

        If the wall clock shows `end` twice because clocks change, the period ends the first time.
        """
        today = to_wall_time(at, load_timezone(self.timezone)).date()
        periods = (self._period_on(day) for day in (today, today - _DAY))
        return next((period for period in periods if period.starts_at <= at < period.ends_at), None)

    def deferred_until(self, at: datetime, *, requested_at: datetime | None) -> datetime | None:
        """Return when a task due at `at` may run if quiet hours defer it, else None.

        A task that its owner requested after the period began is not deferred: the owner is awake.
        """
        period = self.period_at(at)
        if period is None or (requested_at is not None and requested_at >= period.starts_at):
            return None
        return period.ends_at

    def _period_on(self, day: date) -> QuietPeriod:
        zone = load_timezone(self.timezone)
        end_day = day if self.start < self.end else day + _DAY
        starts_at = to_instant(datetime.combine(day, self.start), zone)
        return QuietPeriod(starts_at, to_instant(datetime.combine(end_day, self.end), zone))

    @property
    def description(self) -> str:
        return f"from {self.start:%H:%M} to {self.end:%H:%M} ({self.timezone})"

    def wait(self, until: datetime) -> Wait:
        """Return the wait of a task that these quiet hours defer."""
        detail = {"end": f"{self.end:%H:%M}", "zone": self.timezone}
        return Wait(WaitReason.QUIET_HOURS, until=until, detail=detail)

    def to_text(self) -> str:
        return f"{self.start:%H:%M} {self.end:%H:%M} {self.timezone}"

    @classmethod
    def from_text(cls, stored: str) -> QuietHours:
        """Parse what `to_text` wrote. Raises ValueError for invalid text or unknown time zones."""
        start, end, zone = stored.split(" ", maxsplit=2)
        return cls(time.fromisoformat(start), time.fromisoformat(end), zone)


def is_deferred_by_quiet_hours(task: Task) -> bool:
    """Return True if the task is pending until its owner's quiet hours end."""
    return task.status is Status.PENDING and task.wait_reason is WaitReason.QUIET_HOURS
