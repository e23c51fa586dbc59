"""Parse the time and content of a reminder: `at 9 call mum`, or `to call mum at 9`."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

from duecourse.domain.naturaltime import Clarification, ResolvedTime, parse_when

_CONTENT_PREFIX = re.compile(r"(?:to|that|about)\s+", re.IGNORECASE)
_WORD_PATTERN = re.compile(r"\S+")
# A time after these belongs to the content: `buy a ticket for friday`.
_CONTENT_PREPOSITIONS = frozenset(
    {"for", "by", "from", "until", "till", "before", "after", "the", "since", "of"}
)
_TIME_PREFIXES = frozenset({"at", "@", "in", "on", "every", "each"})
_MAX_TIME_WORDS = 16  # of a time at the end
_TWO_TIMES_QUESTION = Clarification("That names two times. Write only one, and put it first.")


def parse_reminder(
    text: str, *, zone: ZoneInfo, now: datetime
) -> ResolvedTime | Clarification | None:
    """Return the time, a question if it is ambiguous, or None if there is no time.

    `remaining_text` of the result is the reminder's content.
    """
    when = parse_when(text, zone=zone, now=now)
    about = _CONTENT_PREFIX.match(text)
    if when is not None or about is None:
        return when
    return parse_time_at_end(text[about.end() :], zone=zone, now=now)


def parse_time_at_end(
    text: str, *, zone: ZoneInfo, now: datetime
) -> ResolvedTime | Clarification | None:
    """Return the longest time that the text ends with.

    Asks back if the words before it may be a time as well: `be home at 6 every day`.
    """
    question = None
    found = list(_WORD_PATTERN.finditer(text))
    first = max(1, len(found) - _MAX_TIME_WORDS)
    for before, word in zip(found[first - 1 :], found[first:], strict=False):
        when = parse_when(text[word.start() :], zone=zone, now=now, is_bare_delay_allowed=False)
        is_bound = before[0].lower() in _CONTENT_PREPOSITIONS
        if isinstance(when, ResolvedTime) and not when.remaining_text:
            time_at_end = replace(when, remaining_text=text[: word.start()].rstrip(" \t,;"))
            return question or (None if is_bound else time_at_end)
        if not is_bound:
            question = question or _clarification_for(when, word[0])
    return question


def _clarification_for(
    when: ResolvedTime | Clarification | None, first_word: str
) -> Clarification | None:
    if isinstance(when, ResolvedTime):
        return _TWO_TIMES_QUESTION if first_word.lower() in _TIME_PREFIXES else None
    return when
