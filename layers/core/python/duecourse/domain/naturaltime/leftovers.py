"""A time that is only half at the beginning of a text, and half at its end."""

from __future__ import annotations

from duecourse.domain.naturaltime.clock import Clock, take_clock
from duecourse.domain.naturaltime.days import FULL_NAMES
from duecourse.domain.naturaltime.parsed import WrittenTime
from duecourse.domain.naturaltime.tokens import AskBackError, Words

_DAYS = ("today", "tonight", "tomorrow", *FULL_NAMES)
_BEFORE_DAYS = ("on", "next", "this", "every")
_ABOUT = ("for", "about", "of", "by", "before", "until", "since", "from", "the", "and", "or")


def refuse_left_behind(words: Words, written: WrittenTime) -> None:
    """`tomorrow call Bob at 9`, `at 9 call Bob tomorrow`. Leaves the place as it is."""
    if words.is_cut:
        return
    if written.takes_time and written.part_of_day is None and _ends_with_clock(words):
        raise AskBackError("Is the time at the end the one you mean? Then begin with it.")
    if not written.has_day and _ends_with_day(words):
        raise AskBackError("Is the day at the end the one you mean? Then begin with it.")


def _ends_with_clock(words: Words) -> bool:
    return any(words.comes(ahead, _last_clock) for ahead in range(len(words.left)))


def _last_clock(words: Words) -> Clock | None:
    try:
        clock = take_clock(words, after_day=False)
    except AskBackError:
        return None
    return clock if words.is_done else None


def _ends_with_day(words: Words) -> bool:
    named = [word.text for word in words.left if not word.is_sign]
    named = [text for text in named if text not in _BEFORE_DAYS]
    is_day = bool(named) and named[-1] in _DAYS
    return is_day and (len(named) == 1 or named[-2] not in _ABOUT)
