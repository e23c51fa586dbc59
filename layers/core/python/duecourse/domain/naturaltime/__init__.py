"""Times as people write them at the beginning of a text, read by a small grammar.

What can be meant in two ways is asked back, and so is what has passed.
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

# Signs at the end of the time, and then a word or a sign between it and the person's own text.
_TRAILING_PUNCTUATION = r"(?:[,;.!]+(?=\s|$)|[,;:](?=\w))?"
_SEPARATOR = r"(?:(?:to|that|,|:|[–—-]{1,2})(?=\s|$))?"
_SEPARATOR_PATTERN = re.compile(
    rf"{_TRAILING_PUNCTUATION}\s*{_SEPARATOR}\s*(?:[,;.!\s]+$)?", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class ResolvedTime:
    """What was understood: the first time on the wall of the sender's zone or a delay, and how it
    repeats. `rest` is what follows it."""

    remaining_text: str
    delay: timedelta | None = None  # from now, an exact instant
    wall_time: datetime | None = (
        None  # naive, on the wall of the zone given, where there is no delay
    )
    repeat: str | None = None  # as Repeat.parse reads it


@dataclass(frozen=True, slots=True)
class Clarification:
    """What must be asked back, in words for the person."""

    question: str


def parse_when(
    text: str, *, zone: ZoneInfo, now: datetime, is_bare_delay_allowed: bool = True
) -> ResolvedTime | Clarification | None:
    """The time that the text begins with; None where it begins with none. A bare delay is one
    without `in`: `10m tea`."""
    words, here = TokenStream(text), LocalNow(now, zone)
    try:
        written = take_time_expression(
            words, here.today, is_bare_delay_allowed=is_bare_delay_allowed
        )
        return _resolve(written, _remaining_text(text, words.end_offset), here) if written else None
    except ClarificationNeededError as puzzle:
        return Clarification(str(puzzle))


def parse_duration_text(text: str) -> timedelta | None:
    """A length of time and nothing else: `20m`, `half an hour`, `for 2 days`."""
    words = TokenStream(text)
    words.take("for", "in")
    try:
        length = take_duration(words)
    except ClarificationNeededError:
        return None
    if length is None or not words.is_exhausted or length.months or length.total > MAX_DURATION:
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
        raise ClarificationNeededError("When do you mean?")
    return resolve_clock(expression.clock, now)


def _remaining_text(text: str, end: int) -> str:
    lead = _SEPARATOR_PATTERN.match(text, end)
    return text[lead.end() if lead else end :].strip()
