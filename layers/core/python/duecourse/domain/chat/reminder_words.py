"""What somebody is to be reminded of, and when: `at 9 call mum`, or `to call mum at 9`."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

from duecourse.domain.when import Unclear, When, read_when

_TO = re.compile(r"(?:to|that|about)\s+", re.IGNORECASE)
_WORD = re.compile(r"\S+")
# A time behind these belongs to what is to be done: `buy a ticket for friday`.
_BINDING = frozenset(
    {"for", "by", "from", "until", "till", "before", "after", "the", "since", "of"}
)
_MOST_WORDS = 9  # that a time at the end may have


def read_reminder(text: str, *, zone: ZoneInfo, now: datetime) -> When | Unclear | None:
    """`rest` is what it is about."""
    when = read_when(text, zone=zone, now=now)
    about = _TO.match(text)
    if when is not None or about is None:
        return when
    return read_time_at_end(text[about.end() :], zone=zone, now=now)


def read_time_at_end(text: str, *, zone: ZoneInfo, now: datetime) -> When | Unclear | None:
    question = None
    found = list(_WORD.finditer(text))
    first = max(1, len(found) - _MOST_WORDS)
    for before, word in zip(found[first - 1 :], found[first:], strict=False):
        when = read_when(text[word.start() :], zone=zone, now=now)
        if isinstance(when, When) and not when.rest:
            if before[0].lower() in _BINDING:
                return None
            return replace(when, rest=text[: word.start()].rstrip(" \t,;"))
        question = question or (when if isinstance(when, Unclear) else None)
    return question
