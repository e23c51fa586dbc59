"""Parse a time that people write at the beginning of a text, by a small grammar.

Ambiguous and past times are not guessed: the result is then a question for the sender.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from duecourse.domain.naturaltime.duration import TOO_FAR_MESSAGE, take_duration
from duecourse.domain.naturaltime.grammar import take_time_expression
from duecourse.domain.naturaltime.parsed import TimeExpression
from duecourse.domain.naturaltime.resolve import (
    LocalNow,
    resolve_clock,
    resolve_day,
    resolve_duration,
    resolve_rule,
)
from duecourse.domain.naturaltime.tokens import ClarificationNeededError, TokenStream
from duecourse.domain.time.duration import MAX_DURATION

# Punctuation that ends the time, then a word or sign that separates it from the content.
_TRAILING_PUNCTUATION = r"(?:[,;.!]+(?=\s|$)|[,;:](?=\w))?"
_SEPARATOR = r"(?:(?:to|that|,|:|[–—-]{1,2})(?=\s|$))?"
_SEPARATOR_PATTERN = re.compile(
    rf"{_TRAILING_PUNCTUATION}\s*{_SEPARATOR}\s*(?:[,;.!\s]+$)?", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class ResolvedTime:
    """The parsed time: either a delay or a first wall-clock time, and the recurrence if any.

    `remaining_text` is the text after the time.
    """

    remaining_text: str
    delay: timedelta | None = None  # exact, counted from now
    wall_time: datetime | None = None  # naive, in the given zone; None if there is a delay
    repeat: str | None = None  # as RecurrenceRule.parse reads it


@dataclass(frozen=True, slots=True)
class Clarification:
    """A question to ask the sender."""

    question: str


def parse_when(
    text: str, *, zone: ZoneInfo, now: datetime, is_bare_delay_allowed: bool = True
) -> ResolvedTime | Clarification | None:
    """Return the time at the beginning of `text`, a question if it is unclear, or None.

    A bare delay is one without `in`, such as `10m tea`.
    """
    tokens, local_now = TokenStream(text), LocalNow(now, zone)
    try:
        expression = take_time_expression(
            tokens, local_now.today, is_bare_delay_allowed=is_bare_delay_allowed
        )
        return (
            _resolve(expression, _remaining_text(text, tokens.end_offset), local_now)
            if expression
            else None
        )
    except ClarificationNeededError as error:
        return Clarification(str(error))


def parse_duration_text(text: str) -> timedelta | None:
    """Return the duration if `text` is nothing else: `20m`, `half an hour`, `for 2 days`."""
    tokens = TokenStream(text)
    tokens.take("for", "in")
    try:
        length = take_duration(tokens)
    except ClarificationNeededError:
        return None
    if length is None or not tokens.is_exhausted or length.months or length.total > MAX_DURATION:
        return None
    return length.total


def _resolve(expression: TimeExpression, rest: str, now: LocalNow) -> ResolvedTime:
    length = expression.duration
    if length and not length.is_calendar:
        if length.exact > MAX_DURATION:
            raise ClarificationNeededError(TOO_FAR_MESSAGE)
        return ResolvedTime(rest, delay=length.exact)
    return ResolvedTime(
        rest,
        wall_time=_first_wall_time(expression, now),
        repeat=expression.rule.text if expression.rule else None,
    )


def _first_wall_time(expression: TimeExpression, now: LocalNow) -> datetime:
    if expression.rule:
        return resolve_rule(expression.rule, expression.clock, now)
    if expression.duration:
        return resolve_duration(expression.duration, expression.clock, now)
    if expression.day:
        return resolve_day(expression.day, expression.clock, now)
    if expression.clock is None:
        raise ClarificationNeededError("When? Example: tomorrow at 9:00")
    return resolve_clock(expression.clock, now)


def _remaining_text(text: str, end: int) -> str:
    separator = _SEPARATOR_PATTERN.match(text, end)
    return text[separator.end() if separator else end :].strip()
