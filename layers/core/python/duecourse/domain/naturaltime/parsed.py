"""What a written time says, as far as it has been read."""

from __future__ import annotations

from dataclasses import dataclass

from duecourse.domain.naturaltime.clock import Clock, PartOfDay
from duecourse.domain.naturaltime.days import Day
from duecourse.domain.naturaltime.duration import Length
from duecourse.domain.naturaltime.recurrence import Rule


@dataclass(frozen=True, slots=True)
class WrittenTime:
    """One at most of length, day and rule says on which day."""

    length: Length | None = None
    day: Day | None = None
    rule: Rule | None = None
    clock: Clock | None = None
    part_of_day: PartOfDay | None = None

    @property
    def has_day(self) -> bool:
        return bool(self.length or self.day or self.rule)

    @property
    def takes_time(self) -> bool:
        """A time of the day may still be added."""
        return self.clock is None and self.has_own_time

    @property
    def takes_part_of_day(self) -> bool:
        return self.has_day and self.part_of_day is None and self.has_own_time

    @property
    def has_own_time(self) -> bool:
        """It is not so many hours from now."""
        step = self.length or (self.rule.step if self.rule else None)
        return step is None or step.is_calendar
