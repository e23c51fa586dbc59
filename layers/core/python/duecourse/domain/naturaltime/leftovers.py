"""Refuse a time that is split between the beginning and the end of a text."""

from __future__ import annotations

from duecourse.domain.naturaltime.clock import take_clock
from duecourse.domain.naturaltime.clock_time import ClockTime
from duecourse.domain.naturaltime.parsed import TimeExpression
from duecourse.domain.naturaltime.tokens import ClarificationNeededError, TokenStream
from duecourse.domain.naturaltime.weekdays import FULL_NAMES

_DAY_WORDS = ("today", "tonight", "tomorrow", *FULL_NAMES)
_DAY_PREFIXES = ("on", "next", "this", "every")
_CONTENT_PREPOSITIONS = (
    "for",
    "about",
    "of",
    "by",
    "before",
    "until",
    "since",
    "from",
    "the",
    "and",
    "or",
)


def refuse_trailing_time(tokens: TokenStream, expression: TimeExpression) -> None:
    """Refuse `tomorrow call Bob at 9` and `at 9 call Bob tomorrow`. The position stays."""
    if tokens.is_truncated:
        return
    if expression.can_take_clock and expression.part_of_day is None and _ends_with_clock(tokens):
        raise ClarificationNeededError(
            "Is the time at the end the one you mean? Then put it first."
        )
    if not expression.has_day and _ends_with_day(tokens):
        raise ClarificationNeededError("Is the day at the end the one you mean? Then put it first.")


def _ends_with_clock(tokens: TokenStream) -> bool:
    return any(tokens.can_take(ahead, _take_final_clock) for ahead in range(len(tokens.remaining)))


def _take_final_clock(tokens: TokenStream) -> ClockTime | None:
    try:
        clock = take_clock(tokens, is_after_day=False)
    except ClarificationNeededError:
        return None
    return clock if tokens.is_exhausted else None


def _ends_with_day(tokens: TokenStream) -> bool:
    named = [word.text for word in tokens.remaining if not word.is_punctuation]
    named = [text for text in named if text not in _DAY_PREFIXES]
    is_day = bool(named) and named[-1] in _DAY_WORDS
    return is_day and (len(named) == 1 or named[-2] not in _CONTENT_PREPOSITIONS)
