"""Times of day and parts of the day as written, and whether they mean am or pm."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import time
from enum import Enum

from duecourse.domain.naturaltime.labels import ambiguity_error
from duecourse.domain.naturaltime.tokens import ClarificationNeededError

DEFAULT_TIME = time(9)  # for a day without a time


class PartOfDay(Enum):
    """A part of the day with its default time and the hours it covers."""

    MORNING = ("morning", 9, range(12))
    AFTERNOON = ("afternoon", 15, range(12, 19))
    EVENING = ("evening", 18, range(16, 24))
    NIGHT = ("night", 20, range(18, 24))

    def __init__(self, word: str, usual_hour: int, hours: range) -> None:
        self.word = word
        self.default_time = time(usual_hour)
        self.hours = hours


PARTS_OF_DAY = {part.word: part for part in PartOfDay}


@dataclass(frozen=True, slots=True)
class ClockTime:
    """A time of day as written, which may leave open whether it is am or pm."""

    hour: int
    minute: int = 0
    is_unambiguous: bool = True  # am or pm is certain
    is_informal: bool = False  # like `9` or `half past 8`; minutes may still follow
    is_midnight: bool = False
    part_of_day: PartOfDay | None = None

    @property
    def time_as_written(self) -> time:
        return time(self.hour, self.minute)

    @property
    def time_in_other_half(self) -> time:
        return time((self.hour + 12) % 24, self.minute)


def resolve_part_of_day(part: PartOfDay, clock: ClockTime | None) -> ClockTime:
    """Return the clock time within that part of the day, or the part's default time.

    Asks back if the time does not lie in that part.
    """
    if clock is None:
        return ClockTime(part.default_time.hour)
    if clock.is_midnight and part is PartOfDay.NIGHT:
        return clock
    if clock.hour in part.hours:
        return replace(clock, is_unambiguous=True, part_of_day=part)
    if not clock.is_unambiguous and clock.time_in_other_half.hour in part.hours:
        return ClockTime(clock.time_in_other_half.hour, clock.minute, part_of_day=part)
    raise ClarificationNeededError(
        f"{clock.time_as_written:%H:%M} is not in the {part.word}. "
        "Write the day and the time. Example: tomorrow at 01:00"
    )


def resolve_on_named_day(clock: ClockTime) -> time:
    """Return the time on a named day. Asks back if an hour from 1 to 6 may be am or pm."""
    if not clock.is_unambiguous and 1 <= clock.hour <= 6:
        readings = clock.time_as_written, clock.time_in_other_half
        raise ambiguity_error(*(f"{reading:%H:%M}" for reading in readings))
    return clock.time_as_written
