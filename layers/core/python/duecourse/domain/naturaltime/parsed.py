"""The parts of a time expression that have been parsed so far."""

from __future__ import annotations

from dataclasses import dataclass

from duecourse.domain.naturaltime.clock_time import ClockTime, PartOfDay
from duecourse.domain.naturaltime.days import ParsedDay
from duecourse.domain.naturaltime.duration import CalendarDuration
from duecourse.domain.naturaltime.recurrence_rules import ParsedRule


@dataclass(frozen=True, slots=True)
class TimeExpression:
    """At most one of `duration`, `day` and `rule` is set: each determines the day."""

    duration: CalendarDuration | None = None
    day: ParsedDay | None = None
    rule: ParsedRule | None = None
    clock: ClockTime | None = None
    part_of_day: PartOfDay | None = None

    @property
    def has_day(self) -> bool:
        return bool(self.duration or self.day or self.rule)

    @property
    def can_take_clock(self) -> bool:
        """Whether a time of day may still follow."""
        return self.clock is None and self.is_calendar_based

    @property
    def can_take_part_of_day(self) -> bool:
        return self.has_day and self.part_of_day is None and self.is_calendar_based

    @property
    def is_calendar_based(self) -> bool:
        """False if the time is a number of hours, minutes or seconds from now."""
        step = self.duration or (self.rule.interval if self.rule else None)
        return step is None or step.is_calendar
