"""The parts that a written time can have."""

from __future__ import annotations

from dataclasses import dataclass

from duecourse.domain.when.clock import Clock, Part
from duecourse.domain.when.day import Day
from duecourse.domain.when.length import Length
from duecourse.domain.when.repetition import Rule


@dataclass(frozen=True, slots=True)
class Parts:
    """One at most of length, day and rule says on which day."""

    length: Length | None = None
    day: Day | None = None
    rule: Rule | None = None
    clock: Clock | None = None
    part: Part | None = None

    @property
    def has_day(self) -> bool:
        return bool(self.length or self.day or self.rule)

    @property
    def takes_time(self) -> bool:
        """A time of the day may still be added."""
        step = self.length or (self.rule.step if self.rule else None)
        return self.clock is None and (step is None or step.is_calendar)
