"""Parse a whole time expression: its parts in any order, up to where the content begins."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from duecourse.domain.naturaltime.clock import take_clock, take_part_of_day
from duecourse.domain.naturaltime.clock_time import PARTS_OF_DAY, resolve_part_of_day
from duecourse.domain.naturaltime.dates import MONTHS
from duecourse.domain.naturaltime.days import take_day
from duecourse.domain.naturaltime.duration import (
    NUMBER_WORDS,
    UNIT_SPELLINGS,
    CalendarDuration,
    take_duration,
)
from duecourse.domain.naturaltime.guards import is_inside_word, refuse_ambiguous_suffix
from duecourse.domain.naturaltime.labels import ASK_DATE
from duecourse.domain.naturaltime.leftovers import refuse_trailing_time
from duecourse.domain.naturaltime.parsed import TimeExpression
from duecourse.domain.naturaltime.recurrence import take_rule
from duecourse.domain.naturaltime.tokens import ClarificationNeededError, TokenStream
from duecourse.domain.naturaltime.vague import refuse_informal_time, take_vague

_ZERO_DURATION = CalendarDuration()
_EMPTY = TimeExpression()
_NEAR_WORDS = ("today", "tonight", "tomorrow", "this", "next")
_VAGUE_WORDS = ("later", "early", "late", "sometime")


def take_time_expression(
    tokens: TokenStream, today: date, *, is_bare_delay_allowed: bool
) -> TimeExpression | None:
    """Return the time expression that comes next, or None. Asks back if it is incomplete."""
    tokens.take("me")
    if tokens.take("now"):
        return None if _is_not_a_time(tokens) else TimeExpression(duration=_ZERO_DURATION)
    bare = tokens.try_take(take_bare_delay) if is_bare_delay_allowed else None
    if bare and _ends_with_time(tokens, today):
        raise ClarificationNeededError(BARE_DELAY_QUESTION)
    expression = TimeExpression(duration=bare)
    while more := tokens.try_take(_extend, expression, today):
        expression = more
    if expression == _EMPTY:
        _refuse_incomplete_time(tokens, today)
        return None
    refuse_ambiguous_suffix(tokens, expression, today)
    refuse_trailing_time(tokens, expression)
    if is_inside_word(tokens):
        return None
    part = expression.part_of_day
    return (
        replace(expression, clock=resolve_part_of_day(part, expression.clock))
        if part
        else expression
    )


def _is_not_a_time(tokens: TokenStream) -> bool:
    """Return whether `now` is part of another phrase: `now and then`, `now-ish`."""
    return tokens.peek().text in ("and", "or", "that") or is_inside_word(tokens)


def _ends_with_time(tokens: TokenStream, today: date) -> bool:
    """Return whether the text ends with a time: in `30min run at 18:00`, 30min is content."""
    return any(
        tokens.can_take(ahead, _take_final_time, today) for ahead in range(len(tokens.remaining))
    )


def _take_final_time(tokens: TokenStream, today: date) -> bool | None:
    expression = _EMPTY
    try:
        while more := tokens.try_take(_extend, expression, today):
            expression = more
    except ClarificationNeededError:
        return tokens.is_exhausted or None
    return (expression != _EMPTY and tokens.is_exhausted) or None


def _extend(tokens: TokenStream, expression: TimeExpression, today: date) -> TimeExpression | None:
    if expression != _EMPTY:
        tokens.take(",")
    if not expression.has_day and (more := _extend_with_day(tokens, expression, today)):
        return _extend_with_part_of_day(tokens, more)
    if expression.can_take_part_of_day and (part := take_part_of_day(tokens)):
        return replace(expression, part_of_day=part)
    if not expression.can_take_clock:
        return None
    is_apart = expression != _EMPTY and bool(tokens.take(":", "-", "–"))
    after_day = not is_apart and (expression.has_day or expression.part_of_day is not None)
    clock = tokens.try_take(take_clock, is_after_day=after_day)
    return replace(expression, clock=clock) if clock else None


def _extend_with_day(
    tokens: TokenStream, expression: TimeExpression, today: date
) -> TimeExpression | None:
    if rule := tokens.try_take(take_rule, today):
        return replace(
            expression, rule=rule, part_of_day=rule.part_of_day or expression.part_of_day
        )
    if length := tokens.try_take(_take_offset_from_now, today):
        if expression.clock and not length.is_calendar:
            raise ClarificationNeededError("That names two times. Write only one.")
        return replace(expression, duration=length)
    if day := tokens.try_take(take_day, today):
        return replace(expression, day=day, part_of_day=day.part_of_day or expression.part_of_day)
    return None


def _take_offset_from_now(tokens: TokenStream, today: date) -> CalendarDuration | None:
    """Match `in 10 minutes`, `10 minutes from now`."""
    if tokens.take("in"):
        tokens.take("about", "around")
        length = tokens.try_take(take_duration)
        if tokens.take_phrase("' time") or tokens.peek(-1).text.endswith("'s"):
            tokens.take("time")
        return length
    length = tokens.try_take(take_duration)
    if length and tokens.take("ago"):
        raise ClarificationNeededError(
            "That has passed. Write a later time. Example: in 10 minutes"
        )
    if length is None or tokens.take_phrase("from now"):
        return length
    day = take_day(tokens, today) if tokens.take("from", "after", "before") else None
    if day:
        raise ClarificationNeededError(ASK_DATE)
    return None


def _extend_with_part_of_day(tokens: TokenStream, expression: TimeExpression) -> TimeExpression:
    """Add the part of the day: `tomorrow evening`, `at 8 tomorrow evening`."""
    if not expression.can_take_part_of_day or tokens.peek().text not in PARTS_OF_DAY:
        return expression
    return replace(expression, part_of_day=PARTS_OF_DAY[tokens.next().text])


def _refuse_incomplete_time(tokens: TokenStream, today: date) -> None:
    """Refuse text that begins like a time but lacks an essential part."""
    first, second = tokens.peek(), tokens.peek(1)
    is_open = second.text in NUMBER_WORDS and tokens.peek(2).text in ("or", "to", "-")
    if first.text == "in" and (second.is_number or second.text == "-" or is_open):
        raise ClarificationNeededError("In how many minutes, hours or days? Example: in 10 minutes")
    if first.text == "in" and second.text in MONTHS:
        raise ClarificationNeededError("On which day of that month? Example: on 17 february")
    if take_part_of_day(tokens):
        raise ClarificationNeededError("On which day? Example: tomorrow morning")
    is_day = second.text in _NEAR_WORDS or (
        second.text in ("on", "every") and _is_day_next(tokens, today)
    )
    if first.is_number and is_day:
        raise ClarificationNeededError(
            f'Is "{first.text[:9]}" the time? Then write "at {first.text[:9]}".'
        )
    if first.text in _VAGUE_WORDS and second.text in _NEAR_WORDS:
        raise ClarificationNeededError("At what time? Example: tomorrow at 8:00")
    _refuse_vague_time_of_day(tokens, today)
    refuse_informal_time(tokens)
    if tokens.take("by", "before", "after", "until", "from", "starting", "since"):
        _refuse_bound(tokens, today)


def _is_day_next(tokens: TokenStream, today: date) -> bool:
    return tokens.can_take(1, take_day, today) or tokens.can_take(1, take_rule, today)


def _refuse_vague_time_of_day(tokens: TokenStream, today: date) -> None:
    """Refuse `first thing tomorrow`, `eod friday`."""
    vague = tokens.try_take(take_vague)
    if vague and (vague == "first thing" or tokens.can_take(0, take_day, today)):
        raise ClarificationNeededError("At what time? Example: tomorrow at 8:00")


def _refuse_bound(tokens: TokenStream, today: date) -> None:
    """Refuse a bound such as `by friday`: it gives a limit, not a time."""
    if tokens.try_take(_extend, _EMPTY, today):
        raise ClarificationNeededError(
            "When exactly? Put one time first. Example: on friday at 9:00"
        )


BARE_DELAY_QUESTION = (
    'Is that the time? Then write "in" before it. If not, put the time first, or "now".'
)
_ACCEPTED_UNITS = ("hour", "minute")
_CONTENT_WORDS = (
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
_AMBIGUOUS_FOLLOWERS = (
    "before",
    "after",
    "past",
    "until",
    "till",
    "from",
    "later",
    "in",
    "at",
    "every",
    "on",
)
_NEAR_DAYS = ("today", "tonight", "tomorrow")


def take_bare_delay(tokens: TokenStream) -> CalendarDuration | None:
    """Match hours and minutes in digits that are followed by content: `10m tea`.

    Asks back for `3d printer` or `2 weeks notice`, which may be content. `9h` is left to the clock:
    it may be a time of day.
    """
    if not tokens.peek().is_number or _is_clock_hour(tokens):
        return None
    length = take_duration(tokens)
    unit = UNIT_SPELLINGS.get(tokens.peek(-1).text)
    follows = tokens.peek().text
    if length is None or unit is None or tokens.is_exhausted or is_inside_word(tokens):
        return None
    if follows in _CONTENT_WORDS or tokens.take("ago") or tokens.take_phrase("from now"):
        return None
    is_before = follows == "to" and tokens.peek(1).is_number
    if unit not in _ACCEPTED_UNITS or follows in (*_AMBIGUOUS_FOLLOWERS, *_NEAR_DAYS) or is_before:
        raise ClarificationNeededError(BARE_DELAY_QUESTION)
    return length


def _is_clock_hour(tokens: TokenStream) -> bool:
    """Return True for `9h` and `9h30`, but not for `2h30m`."""
    is_hour = tokens.peek(1).is_adjacent and tokens.peek(1).text == "h"
    ahead = 3 if tokens.peek(2).is_number else 2
    return is_hour and tokens.peek(ahead).text not in UNIT_SPELLINGS
