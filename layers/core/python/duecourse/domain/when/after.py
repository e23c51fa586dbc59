"""What may not follow a time, because it would change it: asked back rather than passed over."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Concatenate, ParamSpec

from duecourse.domain.when.clock import PARTS, Clock
from duecourse.domain.when.date import MONTHS, take_ordinal
from duecourse.domain.when.day import WEEKDAYS, take_day
from duecourse.domain.when.length import UNITS, take_length
from duecourse.domain.when.parts import Parts
from duecourse.domain.when.repeat import ADVERBS, take_rule
from duecourse.domain.when.words import AskBackError, Words
from duecourse.domain.when.written_clock import AT, take_clock

P = ParamSpec("P")

_ZONES = (
    "utc gmt cet cest eet eest bst ist msk est edt cst cdt mst mdt pst pdt et pt jst aest aedt sgt"
)
_PLACES = ("eastern", "pacific", "central", "mountain", "london", "berlin", "york", "india")
_LOOSE = "lunch lunchtime dinner dinnertime breakfast sunrise sunset dawn dusk teatime bedtime"
_LIMITS = ("until", "till", "starting", "beginning", "from", "except", "between")
_ALSO = ("and", "&", "or", "plus")
_DASHES = ("-", "–", "—")
_PARTS_OF_WORDS = frozenset("%°€$£/&@#+*=<>_~^|")


def refuse_what_follows(words: Words, parts: Parts, today: date) -> None:
    """Leaves the place as it is."""
    if parts.clock:
        _refuse_zone(words)
        _refuse_range(words)
    elif parts.part is None:
        _refuse_rough_hour(words)
        refuse_loose_time(words)
    if parts.rule:
        _refuse_limits(words)
        _refuse_adverb(words)
        _refuse_open_day(words, has_day=parts.rule.step is None)
    if parts.day:
        _refuse_more_days(words)
    _refuse_minutes(words, parts.clock)
    _refuse_another(words, parts, today)


def refuse_loose_time(words: Words) -> None:
    """`at lunch`, `after work`"""
    first, second = words.peek().text, words.peek(1).text
    loose = _LOOSE.split() + (["work", "school"] if first in ("before", "after") else [])
    if first in (*AT, "by", "before", "after") and second in loose:
        raise AskBackError("At what time is that? For example: at 12:30.")


def is_within_a_word(words: Words) -> bool:
    """`friday-ish`, `5 m&ms`"""
    follows = words.peek()
    if not follows.is_glued or follows.text in (":", ","):
        return False
    if not follows.is_sign or follows.text in _PARTS_OF_WORDS:
        return True
    ahead = 1
    while words.peek(ahead).is_glued and words.peek(ahead).is_sign:
        ahead += 1
    return words.peek(ahead).is_glued


def _refuse_zone(words: Words) -> None:
    follows = words.peek()
    is_place = any(words.peek(ahead).text in _PLACES for ahead in (0, 1))
    is_place = is_place and "time" in (words.peek(1).text, words.peek(2).text)
    is_offset = follows.is_glued and follows.text in ("z", "+")
    if is_place or is_offset or follows.text in _ZONES.split():
        raise AskBackError(
            "I read times in your own zone, which /timezone sets. What time is it there?"
        )


def _refuse_range(words: Words) -> None:
    sign, end = words.peek(), words.peek(1)
    if sign.text not in (*_DASHES, "to", "until", "till"):
        return
    is_glued = sign.is_glued and end.is_glued and end.is_number
    if is_glued or _comes(words, 1, take_clock, after_day=False):
        raise AskBackError("I can keep one time, not a beginning and an end. Which one?")


def _refuse_rough_hour(words: Words) -> None:
    """`at 8ish`"""
    if words.peek().text in AT and words.peek(1).is_number:
        raise AskBackError("At what time exactly? For example: at 8:00.")


def _refuse_minutes(words: Words, clock: Clock | None) -> None:
    """`at 9 30`, `in 1 hour 30`"""
    before, minute = words.peek(-1), words.peek()
    if not minute.is_number or len(minute.text) != 2 or int(minute.text) > 59:
        return
    if clock and clock.is_spoken and before.is_number:
        raise AskBackError(f"Did you mean {before.text}:{minute.text}? Then write it so.")
    if clock is None and UNITS.get(before.text) == "hour":
        raise AskBackError(f'{minute.text} minutes more? Then write "{minute.text} minutes".')


def _refuse_limits(words: Words) -> None:
    first, second = words.peek().text, words.peek(1).text
    is_limit = first in _LIMITS or (first in ("in", "of") and second in MONTHS)
    if is_limit or (first == "for" and _comes(words, 1, take_length)):
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
    is_near = first in ("today", "tonight", "tomorrow")
    if is_near or (first, second) == ("after", "next") or _comes(words, 0, _day_and_time):
        raise AskBackError("That names two days. Which one do you mean?")


def _day_and_time(words: Words) -> Clock | None:
    words.take(",")
    if words.next().text not in WEEKDAYS:
        return None
    words.take(",")
    return take_clock(words, after_day=False)


def _refuse_another(words: Words, parts: Parts, today: date) -> None:
    """`at 9 and 17:00`, `at 9am, 1pm and 5pm`, `in 2 hours at 9`"""
    first, second = words.peek().text, words.peek(1)
    is_more = second.text in PARTS or (parts.clock is not None and second.is_number)
    if first in _ALSO and (is_more or _comes(words, 1, _another, today)):
        raise AskBackError("One time at a time, please: which one is it to be?")
    if first == "," and _comes(words, 1, take_clock, after_day=False):
        raise AskBackError("One time at a time, please: which one is it to be?")
    is_led = first in (*AT, "on", "in", "every", "each", "next")
    if is_led and _comes(words, 0, _another, today):
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


def _comes(
    words: Words,
    ahead: int,
    read: Callable[Concatenate[Words, P], object | None],
    *args: P.args,
    **named: P.kwargs,
) -> bool:
    start = words.at
    words.at += ahead
    found = read(words, *args, **named)
    words.at = start
    return found is not None
