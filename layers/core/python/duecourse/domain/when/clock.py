"""Times and parts of the day, and what they can mean."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import time
from enum import Enum

from duecourse.domain.when.words import AskBackError, Words

USUAL = time(9)  # of a day that is named without a time


class PartOfDay(Enum):
    """A part of the day: its usual time, and the hours that it can have."""

    MORNING = ("morning", 9, range(12))
    AFTERNOON = ("afternoon", 15, range(12, 19))
    EVENING = ("evening", 18, range(16, 24))
    NIGHT = ("night", 20, range(18, 24))

    def __init__(self, word: str, usual_hour: int, hours: range) -> None:
        self.word = word
        self.usual = time(usual_hour)
        self.hours = hours


PARTS_OF_DAY = {part.word: part for part in PartOfDay}


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of the day as it was written, which may leave the half of the day open."""

    hour: int
    minute: int = 0
    is_sure: bool = True  # no other half of the day can be meant
    is_spoken: bool = False  # as `9` and `half past 8`: minutes may be missing
    is_midnight: bool = False
    part_of_day: PartOfDay | None = None

    @property
    def as_written(self) -> time:
        return time(self.hour, self.minute)

    @property
    def other_half(self) -> time:
        return time((self.hour + 12) % 24, self.minute)


def within(part: PartOfDay, clock: Clock | None) -> Clock:
    """The clock read as lying in that part of the day."""
    if clock is None:
        return Clock(part.usual.hour)
    if clock.is_midnight and part is PartOfDay.NIGHT:
        return clock
    if clock.hour in part.hours:
        return replace(clock, is_sure=True, part_of_day=part)
    if not clock.is_sure and clock.other_half.hour in part.hours:
        return Clock(clock.other_half.hour, clock.minute, part_of_day=part)
    raise AskBackError(
        f"{clock.as_written:%H:%M} is not in the {part.word}. What time do you mean, and on which"
        " day? For example: tomorrow at 01:00."
    )


def on_some_day(clock: Clock) -> time:
    """What it means on a day that was named: an hour from 1 to 6 is asked back."""
    if not clock.is_sure and 1 <= clock.hour <= 6:
        raise AskBackError(f"Did you mean {clock.as_written:%H:%M} or {clock.other_half:%H:%M}?")
    return clock.as_written


def take_part_of_day(words: Words) -> PartOfDay | None:
    """`in the evening`, `at night`"""
    is_named = words.peek(2).text in PARTS_OF_DAY
    if is_named and (words.take_all("in the") or words.take_all("during the")):
        return PARTS_OF_DAY[words.next().text]
    return PartOfDay.NIGHT if words.take_all("at night") else None
