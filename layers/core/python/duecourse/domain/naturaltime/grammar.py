"""A written time as a whole: its parts in any order, up to where the person's own text begins."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from duecourse.domain.naturaltime.clock import PARTS_OF_DAY, take_clock, take_part_of_day, within
from duecourse.domain.naturaltime.dates import MONTHS
from duecourse.domain.naturaltime.days import take_day
from duecourse.domain.naturaltime.duration import NUMBERS, UNITS, Length, take_length
from duecourse.domain.naturaltime.guards import is_within_a_word, refuse_what_follows
from duecourse.domain.naturaltime.leftovers import refuse_left_behind
from duecourse.domain.naturaltime.parsed import WrittenTime
from duecourse.domain.naturaltime.recurrence import take_rule
from duecourse.domain.naturaltime.tokens import AskBackError, Words
from duecourse.domain.naturaltime.vague import refuse_loose_time, take_vague

_NOW = Length()
_NOTHING = WrittenTime()
_NEAR = ("today", "tonight", "tomorrow", "this", "next")
_VAGUE = ("later", "early", "late", "sometime")


def take_phrase(words: Words, today: date, *, takes_bare_delay: bool) -> WrittenTime | None:
    """None where no time comes next. Asks back what is not whole."""
    words.take("me")
    if words.take("now"):
        return None if _is_no_time_by_itself(words) else WrittenTime(length=_NOW)
    bare = words.attempt(take_bare_delay) if takes_bare_delay else None
    if bare and _ends_with_time(words, today):
        raise AskBackError(IS_IT_WHEN)
    written = WrittenTime(length=bare)
    while more := words.attempt(_longer, written, today):
        written = more
    if written == _NOTHING:
        _refuse_hints(words, today)
        return None
    refuse_what_follows(words, written, today)
    refuse_left_behind(words, written)
    if is_within_a_word(words):
        return None
    part = written.part_of_day
    return replace(written, clock=within(part, written.clock)) if part else written


def _is_no_time_by_itself(words: Words) -> bool:
    """`now and then`, `now-ish`"""
    return words.peek().text in ("and", "or", "that") or is_within_a_word(words)


def _ends_with_time(words: Words, today: date) -> bool:
    """`30min run at 18:00`: the length is the run's."""
    return any(words.comes(ahead, _last_time, today) for ahead in range(len(words.left)))


def _last_time(words: Words, today: date) -> bool | None:
    written = _NOTHING
    try:
        while more := words.attempt(_longer, written, today):
            written = more
    except AskBackError:
        return words.is_done or None
    return (written != _NOTHING and words.is_done) or None


def _longer(words: Words, written: WrittenTime, today: date) -> WrittenTime | None:
    if written != _NOTHING:
        words.take(",")
    if not written.has_day and (more := _with_day(words, written, today)):
        return _with_part_beside(words, more)
    if written.takes_part_of_day and (part := take_part_of_day(words)):
        return replace(written, part_of_day=part)
    if not written.takes_time:
        return None
    is_apart = written != _NOTHING and bool(words.take(":", "-", "–"))
    after_day = not is_apart and (written.has_day or written.part_of_day is not None)
    clock = words.attempt(take_clock, after_day=after_day)
    return replace(written, clock=clock) if clock else None


def _with_day(words: Words, written: WrittenTime, today: date) -> WrittenTime | None:
    if rule := words.attempt(take_rule, today):
        return replace(written, rule=rule, part_of_day=rule.part_of_day or written.part_of_day)
    if length := words.attempt(_take_distance, today):
        if written.clock and not length.is_calendar:
            raise AskBackError("That names two times. Which one do you mean?")
        return replace(written, length=length)
    if day := words.attempt(take_day, today):
        return replace(written, day=day, part_of_day=day.part_of_day or written.part_of_day)
    return None


def _take_distance(words: Words, today: date) -> Length | None:
    """`in 10 minutes`, `10 minutes from now`"""
    if words.take("in"):
        words.take("about", "around")
        length = words.attempt(take_length)
        if words.take_all("' time") or words.peek(-1).text.endswith("'s"):
            words.take("time")
        return length
    length = words.attempt(take_length)
    if length and words.take("ago"):
        raise AskBackError("That has passed. When do you mean?")
    if length is None or words.take_all("from now"):
        return length
    day = take_day(words, today) if words.take("from", "after", "before") else None
    if day:
        raise AskBackError("Which day is that? Write its date.")
    return None


def _with_part_beside(words: Words, written: WrittenTime) -> WrittenTime:
    """`tomorrow evening`, `at 8 tomorrow evening`"""
    if not written.takes_part_of_day or words.peek().text not in PARTS_OF_DAY:
        return written
    return replace(written, part_of_day=PARTS_OF_DAY[words.next().text])


def _refuse_hints(words: Words, today: date) -> None:
    """What begins like a time but leaves out what counts."""
    first, second = words.peek(), words.peek(1)
    is_open = second.text in NUMBERS and words.peek(2).text in ("or", "to", "-")
    if first.text == "in" and (second.is_number or second.text == "-" or is_open):
        raise AskBackError("In how many minutes, hours or days? For example: in 10 minutes.")
    if first.text == "in" and second.text in MONTHS:
        raise AskBackError("On which day of that month? For example: on 17 february.")
    if take_part_of_day(words):
        raise AskBackError("On which day? For example: tomorrow morning.")
    is_day = second.text in _NEAR or (second.text in ("on", "every") and _has_day(words, today))
    if first.is_number and is_day:
        raise AskBackError(f'Is "{first.text[:9]}" the time? Then write "at {first.text[:9]}".')
    if first.text in _VAGUE and second.text in _NEAR:
        raise AskBackError("At what time? For example: tomorrow at 8:00.")
    _refuse_vague_time_of_day(words, today)
    refuse_loose_time(words)
    if words.take("by", "before", "after", "until", "from", "starting", "since"):
        _refuse_bound(words, today)


def _has_day(words: Words, today: date) -> bool:
    return words.comes(1, take_day, today) or words.comes(1, take_rule, today)


def _refuse_vague_time_of_day(words: Words, today: date) -> None:
    """`first thing tomorrow`, `eod friday`"""
    vague = words.attempt(take_vague)
    if vague and (vague == "first thing" or words.comes(0, take_day, today)):
        raise AskBackError("At what time? For example: tomorrow at 8:00.")


def _refuse_bound(words: Words, today: date) -> None:
    """`by friday` says up to when, not when."""
    if words.attempt(_longer, _NOTHING, today):
        raise AskBackError('When exactly is it to be? Begin with the time: "on friday at 9".')


IS_IT_WHEN = (
    'Is that when it is to be? Then write "in" before it. If not, begin with the time, or with'
    ' "now".'
)
_READ = ("hour", "minute")
_OWN_WORDS = (
    "of",
    "long",
    "per",
    "into",
    "a",
    "each",
    "is",
    "are",
    "'",
)  # `10 minutes of stretching`
_ANCHORS = ("before", "after", "past", "until", "till", "from", "later", "in", "at", "every", "on")
_NEAR_DAYS = ("today", "tonight", "tomorrow")


def take_bare_delay(words: Words) -> Length | None:
    """Hours and minutes in digits, with words behind. `3d printer` and `2 weeks notice` may be
    meant either way, and `9h` is a time of the day as well."""
    if not words.peek().is_number or _is_time_in_hours(words):
        return None
    length = take_length(words)
    unit = UNITS.get(words.peek(-1).text)
    follows = words.peek().text
    if length is None or unit is None or words.is_done or is_within_a_word(words):
        return None
    if follows in _OWN_WORDS or words.take("ago") or words.take_all("from now"):
        return None
    is_before = follows == "to" and words.peek(1).is_number
    if unit not in _READ or follows in (*_ANCHORS, *_NEAR_DAYS) or is_before:
        raise AskBackError(IS_IT_WHEN)
    return length


def _is_time_in_hours(words: Words) -> bool:
    """`9h`, `9h30`, but not `2h30m`"""
    is_hour = words.peek(1).is_glued and words.peek(1).text == "h"
    ahead = 3 if words.peek(2).is_number else 2
    return is_hour and words.peek(ahead).text not in UNITS
