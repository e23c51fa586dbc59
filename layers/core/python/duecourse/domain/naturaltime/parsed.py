"""What a written time says, as far as it has been read."""

from __future__ import annotations

from dataclasses import dataclass

from duecourse.domain.naturaltime.clock import ClockTime, PartOfDay
from duecourse.domain.naturaltime.days import ParsedDay
from duecourse.domain.naturaltime.duration import CalendarDuration
from duecourse.domain.naturaltime.recurrence import ParsedRule


@dataclass(frozen=True, slots=True)
class TimeExpression:
    """One at most of length, day and rule says on which day."""

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
        """A time of the day may still be added."""
        return self.clock is None and self.is_calendar_based

    @property
    def can_take_part_of_day(self) -> bool:
        return self.has_day and self.part_of_day is None and self.is_calendar_based

    @property
    def is_calendar_based(self) -> bool:
        """It is not so many hours from now."""
        step = self.duration or (self.rule.interval if self.rule else None)
        return step is None or step.is_calendar
