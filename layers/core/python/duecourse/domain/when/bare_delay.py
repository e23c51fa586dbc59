"""A length of time that begins a text without `in`: `10m tea`."""

from __future__ import annotations

from duecourse.domain.when.after import is_within_a_word
from duecourse.domain.when.length import UNITS, Length, take_length
from duecourse.domain.when.words import AskBackError, Words

IS_IT_WHEN = (
    'Is that when it is to be? Then write "in" before it. If not, begin with the time, or with'
    ' "now".'
)
_READ = ("hour", "minute")
_OWN_WORDS = (
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
_ANCHORS = ("before", "after", "past", "until", "till", "from", "later", "in", "at", "every", "on")
_NEAR_DAYS = ("today", "tonight", "tomorrow")


def take_bare_delay(words: Words) -> Length | None:
    """Hours and minutes in digits, with words behind. `3d printer` and `2 weeks notice` may be
    meant either way, and `9h` is a time of the day as well."""
    if not words.peek().is_number or _is_time_in_hours(words):
        return None
    length = take_length(words)
    unit = UNITS.get(words.peek(-1).text)
    follows = words.peek().text
    if length is None or unit is None or words.is_done or is_within_a_word(words):
        return None
    if follows in _OWN_WORDS or words.take("ago") or words.take_all("from now"):
        return None
    is_before = follows == "to" and words.peek(1).is_number
    if unit not in _READ or follows in (*_ANCHORS, *_NEAR_DAYS) or is_before:
        raise AskBackError(IS_IT_WHEN)
    return length


def _is_time_in_hours(words: Words) -> bool:
    """`9h`, `9h30`, but not `2h30m`"""
    is_hour = words.peek(1).is_glued and words.peek(1).text == "h"
    ahead = 3 if words.peek(2).is_number else 2
    return is_hour and words.peek(ahead).text not in UNITS
