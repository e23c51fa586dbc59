"""A time that is only half at the beginning of a text, and half at its end."""

from __future__ import annotations

from duecourse.domain.when.day import WEEKDAYS
from duecourse.domain.when.parts import Parts
from duecourse.domain.when.words import MOST_WORDS, AskBackError, Words
from duecourse.domain.when.written_clock import take_clock

_DAYS = ("today", "tonight", "tomorrow", *(name for name in WEEKDAYS if name.endswith("day")))
_BEFORE_DAYS = ("on", "next", "this", "every")
_ABOUT = ("for", "about", "of", "by", "before", "until", "since", "from", "the", "and", "or")


def refuse_left_behind(words: Words, parts: Parts) -> None:
    """`tomorrow call Bob at 9`, `at 9 call Bob tomorrow`. Leaves the place as it is."""
    if words.is_cut:
        return
    if parts.takes_time and parts.part is None and _ends_with_clock(words):
        raise AskBackError("Is the time at the end the one you mean? Then begin with it.")
    if not parts.has_day and _ends_with_day(words):
        raise AskBackError("Is the day at the end the one you mean? Then begin with it.")


def _ends_with_clock(words: Words) -> bool:
    start = words.at
    found = False
    while not words.is_done and not found:
        found = _is_last_clock(words)
        words.next()
    words.at = start
    return found


def _is_last_clock(words: Words) -> bool:
    start = words.at
    try:
        return take_clock(words, after_day=False) is not None and words.is_done
    except AskBackError:
        return False
    finally:
        words.at = start


def _ends_with_day(words: Words) -> bool:
    rest = (words.peek(ahead) for ahead in range(MOST_WORDS))
    named = [word.text for word in rest if word.text and not word.is_sign]
    named = [text for text in named if text not in _BEFORE_DAYS]
    is_day = bool(named) and named[-1] in _DAYS
    return is_day and (len(named) == 1 or named[-2] not in _ABOUT)
