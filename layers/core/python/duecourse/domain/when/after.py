"""What may not follow a time, because it would change it: asked back rather than passed over."""

from __future__ import annotations

from datetime import date

from duecourse.domain.when.clock import PARTS_OF_DAY, Clock
from duecourse.domain.when.date import MONTHS, take_ordinal
from duecourse.domain.when.day import take_day
from duecourse.domain.when.length import NUMBERS, UNITS, take_length
from duecourse.domain.when.listed_days import PLURALS
from duecourse.domain.when.more_times import ONE_AT_A_TIME, refuse_more_times
from duecourse.domain.when.repeat import ADVERBS, take_rule
from duecourse.domain.when.rough import refuse_rough
from duecourse.domain.when.weekday import WEEKDAYS
from duecourse.domain.when.words import AskBackError, Word, Words
from duecourse.domain.when.written_clock import AT, take_clock
from duecourse.domain.when.written_time import WrittenTime
from duecourse.domain.when.zone import refuse_zone

_LIMITS = ("until", "till", "starting", "beginning", "from", "except", "between")
_ALSO = ("and", "&", "or", "plus")
_BETWEEN_DAYS = (",", ";", "/", "+", "&", "and")
_DAY_NAMES = frozenset((*WEEKDAYS, *PLURALS))
_TWO_DAYS = "That names two days. Which one do you mean?"
_MANY = 10  # minutes; `an hour one last time` counts something else
_DASHES = ("-", "–", "—")
_SIGNS_IN_WORDS = frozenset("%°€$£/&@#+*=<>_~^|")


def refuse_what_follows(words: Words, written: WrittenTime, today: date) -> None:
    """Leaves the place as it is."""
    if written.clock or written.part_of_day:
        refuse_zone(words)
        _refuse_range(words)
    refuse_rough(words, written)
    if written.rule:
        _refuse_limits(words)
        _refuse_adverb(words)
        _refuse_more_weekdays(words)
        _refuse_open_day(words, has_day=written.rule.step is None)
    if written.day or written.length:
        _refuse_near_day(words)
    if written.day:
        _refuse_more_days(words)
    _refuse_minutes(words, written.clock)
    refuse_more_times(words, written)
    _refuse_another(words, written, today)


def is_within_a_word(words: Words) -> bool:
    """`friday-ish`, `5 m&ms`"""
    follows = words.peek()
    if not follows.is_glued or follows.text in (":", ",", ";"):
        return False
    if not follows.is_sign or follows.text in _SIGNS_IN_WORDS:
        return True
    ahead = 1
    while words.peek(ahead).is_glued and words.peek(ahead).is_sign:
        ahead += 1
    return words.peek(ahead).is_glued


def _refuse_range(words: Words) -> None:
    sign, end = words.peek(), words.peek(1)
    if sign.text not in (*_DASHES, "to", "until", "till"):
        return
    is_glued = sign.is_glued and end.is_glued and end.is_number
    if is_glued or words.comes(1, take_clock, after_day=False):
        raise AskBackError("I can keep one time, not a beginning and an end. Which one?")


def _refuse_minutes(words: Words, clock: Clock | None) -> None:
    """`at 9 30`, `in 1 hour 30`, `in an hour and thirty`"""
    before, minute = words.peek(-1), words.peek()
    if clock and clock.is_spoken and before.is_number and _is_minute(minute):
        raise AskBackError(f"Did you mean {before.text}:{minute.text}? Then write it so.")
    if clock is None and words.comes(0, _minutes_more, UNITS.get(before.text)):
        raise AskBackError('How many minutes more? Write them so: "1 hour 30 minutes".')


def _is_minute(word: Word) -> bool:
    return word.is_number and len(word.text) == 2 and int(word.text) <= 59


def _minutes_more(words: Words, unit: str | None) -> bool | None:
    has_and = bool(words.take("and", "&", "plus"))
    minute = words.next()
    is_minute = _is_minute(minute) or NUMBERS.get(minute.text, 0) >= _MANY
    if has_and and unit == "hour":
        is_minute = is_minute or minute.is_number or minute.text in (*NUMBERS, "half", "quarter")
    is_meant = unit == "hour" or (unit == "minute" and has_and)
    return (is_meant and is_minute) or None


def _refuse_limits(words: Words) -> None:
    first, second = words.peek().text, words.peek(1).text
    is_limit = first in _LIMITS or (first in ("in", "of") and second in MONTHS)
    if is_limit or (first == "for" and words.comes(1, take_length)):
        raise AskBackError(
            "I cannot keep a beginning, an end or an exception. Say how it repeats, and cancel it"
            " when it is no longer wanted."
        )


def _refuse_adverb(words: Words) -> None:
    """`daily report`: every day, or only a name?"""
    if words.peek(-1).text in ADVERBS and not words.is_done:
        raise AskBackError('Is it to be repeated? Then say so with "every": every day at 9.')


def _refuse_open_day(words: Words, *, has_day: bool) -> None:
    """`every year on my birthday`"""
    if not has_day and words.peek().text == "on" and not words.peek(1).is_glued:
        raise AskBackError("On which day is that? For example: every year on 24 december.")


def _refuse_more_days(words: Words) -> None:
    """`monday to friday`, `friday after next`, `tomorrow, friday, at 9`"""
    first, second = words.peek().text, words.peek(1).text
    if first in (*_DASHES, "to", "through") and second in WEEKDAYS:
        raise AskBackError('On each of these days? Then write "every", as in: every weekday at 9.')
    if (first, second) == ("after", "next") or words.comes(0, _days_and_time):
        raise AskBackError(_TWO_DAYS)


def _refuse_near_day(words: Words) -> None:
    if words.peek().text in ("today", "tonight", "tomorrow"):
        raise AskBackError(_TWO_DAYS)


def _days_and_time(words: Words) -> bool | None:
    """A list of weekdays that begins with one before it: `wed fri at 9`, `/wed/fri 9:00`."""
    is_after_weekday = words.peek(-1).text in WEEKDAYS
    words.take(*_BETWEEN_DAYS)
    if words.next().text not in WEEKDAYS:
        return None
    while words.take(*_BETWEEN_DAYS) or words.peek().text in WEEKDAYS:
        words.take(*WEEKDAYS)
    has_time = words.is_done or words.comes(0, take_clock, after_day=False)
    return has_time or is_after_weekday or None


def _refuse_more_weekdays(words: Words) -> None:
    """`every monday friday report`"""
    is_next = words.peek(-1).text in _DAY_NAMES and words.peek().text in _DAY_NAMES
    if is_next or words.comes(0, _days_and_time):
        raise AskBackError('On which days? Write "and" between them, or a colon after them.')


def _refuse_another(words: Words, written: WrittenTime, today: date) -> None:
    """`at 9 and 17:00`, `at 9am, 1pm and 5pm`, `in 2 hours at 9`"""
    first, second = words.peek().text, words.peek(1)
    if words.comes(0, _again, today):
        raise AskBackError(ONE_AT_A_TIME)
    is_more = second.text in PARTS_OF_DAY or (written.clock is not None and second.is_number)
    if first in _ALSO and (is_more or words.comes(1, _another, today)):
        raise AskBackError(ONE_AT_A_TIME)
    is_led = first in (*AT, "on", "in", "every", "each", "next")
    if is_led and words.comes(0, _another, today):
        raise AskBackError("That names two times. Which one do you mean?")


def _another(words: Words, today: date) -> object | None:
    words.take("in")
    return (
        words.attempt(take_rule, today)
        or words.attempt(take_length)
        or words.attempt(take_day, today)
        or words.attempt(take_ordinal)
        or words.attempt(take_clock, after_day=False)
    )


def _again(words: Words, today: date) -> object | None:
    """`and again in 20`, `then 12`"""
    words.take(",")
    words.take(*_ALSO)
    is_again = bool(words.take("then"))
    is_again = bool(words.take("again") or words.take_all("once more")) or is_again
    if not is_again:
        return None
    ahead = 1 if words.peek().text in (*AT, "in") else 0
    follows = words.peek(ahead)
    return follows.is_number or follows.text in NUMBERS or _another(words, today)
