"""Times and parts of the day, and what they can mean."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import time
from enum import Enum

from duecourse.domain.naturaltime.duration import NUMBERS, UNITS
from duecourse.domain.naturaltime.tokens import AskBackError, Word, Words

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


AT = ("at", "@", "around", "about")
_HALF_DAYS = {"am": 0, "pm": 12}
_PAST = {"quarter": 15, "half": 30}
_SAID_MINUTES = (5, 10, 20, 25)
_TENS = ("ten", "fifteen", "twenty", "thirty", "forty", "fifty")


@dataclass(frozen=True, slots=True)
class _Lead:
    """What stands before a time. Without it, a mere number is a time only where nothing else can
    be meant."""

    has_at: bool
    is_after_day: bool

    @property
    def is_any(self) -> bool:
        return self.has_at or self.is_after_day


def take_clock(words: Words, *, after_day: bool) -> Clock | None:
    lead = _take_lead(words, after_day=after_day)
    clock = _named(words) or words.attempt(_spoken, lead) or words.attempt(_on_the_dial, lead)
    if clock is None or clock.part_of_day or clock.is_midnight:
        return clock
    part = take_part_of_day(words)
    return within(part, clock) if part else clock


def _take_lead(words: Words, *, after_day: bool) -> _Lead:
    """`about 9` may begin what is to be done: `about 9 people`."""
    has_at = bool(words.take("at", "@"))
    is_rough = bool(words.take("around", "about"))
    return _Lead(has_at or (is_rough and after_day), after_day)


def _named(words: Words) -> Clock | None:
    if words.take("noon", "midday"):
        return Clock(12)
    return Clock(0, is_midnight=True) if words.take("midnight") else None


def _spoken(words: Words, lead: _Lead) -> Clock | None:
    """`half past 8`, `a quarter to nine`, `5 past 9`"""
    words.take("a")
    word = words.next()
    has_unit = bool(words.take("minutes", "min", "mins"))
    minutes = _PAST.get(word.text) or _hour_of(word)
    if word.text == "half" and lead.is_any and (named := _hour_of(words.peek())) in range(1, 13):
        raise AskBackError(f"Did you mean {named - 1 or 12}:30 or {named}:30?")
    direction = words.take("past", "to")
    hour_word = words.next()
    hour = _hour_of(hour_word)
    is_said_so = word.text in _PAST or (lead.is_any and (has_unit or minutes in _SAID_MINUTES))
    if not is_said_so or not direction or not 1 <= hour <= 23 or not 1 <= minutes <= 59:
        return None
    if direction == "past":
        return _half_open(words, hour, minutes)
    before = 12 if hour == 1 else hour - 1
    if word.is_number and hour_word.is_number and not has_unit:
        raise _range_or_time(f"{before}:{60 - minutes:02}", f"{minutes} to {hour}")
    return _half_open(words, before, 60 - minutes)


def _range_or_time(at: str, between: str) -> AskBackError:
    return AskBackError(f"Did you mean {at}, or from {between}? Write one time with a colon.")


def _half_open(words: Words, hour: int, minute: int) -> Clock:
    half = _take_half_day(words)
    if half:
        return _in_half(hour, minute, half)
    return Clock(hour, minute, is_sure=hour > 12, is_spoken=True)


def _hour_of(word: Word) -> int:
    if word.is_number and len(word.text) <= 2:
        return int(word.text)
    return NUMBERS.get(word.text, -1)


def _on_the_dial(words: Words, lead: _Lead) -> Clock | None:
    word = words.next()
    if word.is_number and len(word.text) in (3, 4):
        return _compact(words, word.text, lead)
    hour = _hour_of(word)
    if not 0 <= hour <= 99:
        return None
    if hour == 12 and (named := _named(words)):
        return named
    minute = _minute_after(words, word, lead)
    if half := _take_half_day(words):
        return _in_half(hour, minute or 0, half)
    if minute is not None:
        words.take("h", "hrs", "uhr")
        clock = _checked(hour, minute, word)
        return clock if word.is_number or lead.has_at else None
    return _bare_hour(words, word, hour, lead)


def _compact(words: Words, digits: str, lead: _Lead) -> Clock | None:
    """`1530`, `930am`"""
    hour, minute = int(digits[:-2]), int(digits[-2:])
    if half := _take_half_day(words):
        return _in_half(hour, minute, half)
    if hour > 23 or minute > 59 or words.peek().text in UNITS or not lead.is_any:
        return None
    if not lead.has_at and not words.take("hrs", "h", "uhr") and not words.is_done:
        raise AskBackError(f'Is "{digits}" a time? Then write it as {hour:02}:{minute:02}.')
    words.take("hrs", "h", "uhr")
    return _checked(hour, minute, digits)


def _minute_after(words: Words, hour: Word, lead: _Lead) -> int | None:
    """`:30`, `.30`, `h30`, and `thirty` after a written hour"""
    if not hour.is_number:
        return _written_minute(words)
    sign, minute = words.peek(), words.peek(1)
    is_joined = sign.is_glued and minute.is_glued and minute.is_number
    if not is_joined or sign.text not in (":", ".", "h"):
        return None
    if len(minute.text) != 2:
        if sign.text == ":" and lead.is_any:
            raise _impossible(f"{hour.text}:{minute.text[:9]}")
        return None
    if sign.text == "." and not lead.is_any and words.peek(2).text not in ("am", "pm", "a", "p"):
        raise AskBackError(f'Is "{hour.text}.{minute.text}" a time? Then write "at" before it.')
    words.at += 2
    _skip_no_seconds(words)
    return int(minute.text)


def _skip_no_seconds(words: Words) -> None:
    sign, second = words.peek(), words.peek(1)
    if sign.is_glued and sign.text == ":" and second.is_glued and second.is_number:
        if second.text != "00":
            raise AskBackError("I cannot keep seconds: at which minute?")
        words.at += 2
        _skip_no_milliseconds(words)


def _skip_no_milliseconds(words: Words) -> None:
    sign, fraction = words.peek(), words.peek(1)
    if sign.is_glued and sign.text in (".", ",") and fraction.is_glued and fraction.is_number:
        if fraction.text.strip("0"):
            raise AskBackError("I cannot keep seconds: at which minute?")
        words.at += 2


def _written_minute(words: Words) -> int | None:
    if words.peek().text not in _TENS:
        return None
    minute = NUMBERS[words.next().text]
    words.take("-")
    if minute >= 20 and 1 <= NUMBERS.get(words.peek().text, 0) <= 9:
        minute += NUMBERS[words.next().text]
    return minute


def _take_half_day(words: Words) -> str:
    if half := words.take("am", "pm"):
        return half
    if (
        words.peek(-1).is_number
        and not words.peek(1).is_glued
        and (half := words.take_glued("a", "p"))
    ):
        return f"{half}m"
    for half in _HALF_DAYS:
        if words.peek(1).is_glued and words.peek(2).is_glued and words.take_all(f"{half[0]} . m"):
            words.take_glued(".")
            return half
    return ""


def _in_half(hour: int, minute: int, half: str) -> Clock:
    if not 1 <= hour <= 12 or minute > 59:
        raise _impossible(f"{hour}{f':{minute:02}' if minute else ''}{half}")
    return Clock(hour % 12 + _HALF_DAYS[half], minute)


def _checked(hour: int, minute: int, written: Word | str) -> Clock:
    text = written if isinstance(written, str) else written.text
    if hour == 24 and minute == 0:
        raise AskBackError("24:00 begins the next day: write that day and 00:00.")
    if hour > 23 or minute > 59:
        raise _impossible(f"{hour}:{minute:02}")
    is_sure = hour > 12 or hour == 0 or text.startswith("0")
    return Clock(hour, minute, is_sure=is_sure)


def _bare_hour(words: Words, word: Word, hour: int, lead: _Lead) -> Clock | None:
    if words.take("o'clock", "oclock", "uhr") or (words.take_glued("h") and lead.is_any):
        return replace(_checked(hour, 0, word), is_spoken=True)
    if words.peek(-1).text == "h":
        raise AskBackError(f"Did you mean at {hour}:00 or in {hour} hours?")
    follows = words.peek()
    is_other = follows.is_glued and not follows.is_sign
    if hour > (24 if lead.has_at else 23) or is_other or follows.text in UNITS:
        return None
    clock = replace(_checked(hour, 0, word), is_spoken=True)
    if part := take_part_of_day(words):
        return within(part, clock)
    if lead.has_at or (lead.is_after_day and words.is_done):
        return clock
    if lead.is_after_day:
        raise AskBackError(f'Is "{word.text}" the time? Then write "at {word.text}".')
    return None


def _impossible(shown: str) -> AskBackError:
    return AskBackError(f"There is no such time as {shown}. What time do you mean?")
