"""Times as people write them at the beginning of a text, read by a small grammar.

What can be meant in two ways is asked back, and so is what has passed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from duecourse.domain.naturaltime.duration import TOO_FAR, take_length
from duecourse.domain.naturaltime.grammar import take_phrase
from duecourse.domain.naturaltime.parsed import WrittenTime
from duecourse.domain.naturaltime.resolve import Now, after_length, at_clock, first_of_rule, on_day
from duecourse.domain.naturaltime.tokens import AskBackError, Words
from duecourse.domain.time.duration import LONGEST

# Signs at the end of the time, and then a word or a sign between it and the person's own text.
_GLUED = r"(?:[,;.!]+(?=\s|$)|[,;:](?=\w))?"
_BETWEEN = r"(?:(?:to|that|,|:|[–—-]{1,2})(?=\s|$))?"
_LEAD = re.compile(rf"{_GLUED}\s*{_BETWEEN}\s*(?:[,;.!\s]+$)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class When:
    """What was understood: the first time on the wall of the sender's zone or a delay, and how it
    repeats. `rest` is what follows it."""

    rest: str
    delay: timedelta | None = None  # from now, an exact instant
    wall: datetime | None = None  # naive, on the wall of the zone given, where there is no delay
    repeat: str | None = None  # as Repeat.parse reads it


@dataclass(frozen=True, slots=True)
class Unclear:
    """What must be asked back, in words for the person."""

    question: str


def read_when(
    text: str, *, zone: ZoneInfo, now: datetime, takes_bare_delay: bool = True
) -> When | Unclear | None:
    """The time that the text begins with; None where it begins with none. A bare delay is one
    without `in`: `10m tea`."""
    words, here = Words(text), Now(now, zone)
    try:
        written = take_phrase(words, here.today, takes_bare_delay=takes_bare_delay)
        return _understood(written, _rest(text, words.end), here) if written else None
    except AskBackError as puzzle:
        return Unclear(str(puzzle))


def read_length(text: str) -> timedelta | None:
    """A length of time and nothing else: `20m`, `half an hour`, `for 2 days`."""
    words = Words(text)
    words.take("for", "in")
    try:
        length = take_length(words)
    except AskBackError:
        return None
    if length is None or not words.is_done or length.months or length.total > LONGEST:
        return None
    return length.total


def _understood(written: WrittenTime, rest: str, now: Now) -> When:
    length = written.length
    if length and not length.is_calendar:
        if length.exact > LONGEST:
            raise AskBackError(TOO_FAR)
        return When(rest, delay=length.exact)
    return When(rest, wall=_first(written, now), repeat=written.rule.text if written.rule else None)


def _first(written: WrittenTime, now: Now) -> datetime:
    if written.rule:
        return first_of_rule(written.rule, written.clock, now)
    if written.length:
        return after_length(written.length, written.clock, now)
    if written.day:
        return on_day(written.day, written.clock, now)
    if written.clock is None:
        raise AskBackError("When do you mean?")
    return at_clock(written.clock, now)


def _rest(text: str, end: int) -> str:
    lead = _LEAD.match(text, end)
    return text[lead.end() if lead else end :].strip()
