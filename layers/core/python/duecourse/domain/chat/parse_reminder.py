"""What somebody is to be reminded of, and when: `at 9 call mum`, or `to call mum at 9`."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

from duecourse.domain.naturaltime import Unclear, When, read_when

_TO = re.compile(r"(?:to|that|about)\s+", re.IGNORECASE)
_WORD = re.compile(r"\S+")
# A time behind these belongs to what is to be done: `buy a ticket for friday`.
_BINDING = frozenset(
    {"for", "by", "from", "until", "till", "before", "after", "the", "since", "of"}
)
_LEADING = frozenset({"at", "@", "in", "on", "every", "each"})
_MOST_WORDS = 16  # that a time at the end may have
_TWO_TIMES = Unclear("That names two times. Which one do you mean? Begin with it.")


def read_reminder(text: str, *, zone: ZoneInfo, now: datetime) -> When | Unclear | None:
    """`rest` is what it is about."""
    when = read_when(text, zone=zone, now=now)
    about = _TO.match(text)
    if when is not None or about is None:
        return when
    return read_time_at_end(text[about.end() :], zone=zone, now=now)


def read_time_at_end(text: str, *, zone: ZoneInfo, now: datetime) -> When | Unclear | None:
    """The longest time that the text ends with. What stands before it and may be a time as well
    is asked back: `be home at 6 every day`."""
    question = None
    found = list(_WORD.finditer(text))
    first = max(1, len(found) - _MOST_WORDS)
    for before, word in zip(found[first - 1 :], found[first:], strict=False):
        when = read_when(text[word.start() :], zone=zone, now=now, takes_bare_delay=False)
        is_bound = before[0].lower() in _BINDING
        if isinstance(when, When) and not when.rest:
            time_at_end = replace(when, rest=text[: word.start()].rstrip(" \t,;"))
            return question or (None if is_bound else time_at_end)
        if not is_bound:
            question = question or _question(when, word[0])
    return question


def _question(when: When | Unclear | None, first_word: str) -> Unclear | None:
    if isinstance(when, When):
        return _TWO_TIMES if first_word.lower() in _LEADING else None
    return when
