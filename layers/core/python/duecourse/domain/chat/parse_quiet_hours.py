"""Quiet hours as people write them: `22:00-7:00`, `10pm to 7am`, `from 22 until 7`."""

from __future__ import annotations

import re
from datetime import time

from duecourse.domain.naturaltime.clock import Clock, take_clock
from duecourse.domain.naturaltime.tokens import AskBackError, Words

_EXAMPLE = "For example: /quiet 22:00-7:00"
_FROM_TO = re.compile(
    r"(?:from |between )?(?P<start>.+?) ?(?:-|–|—|\b(?:to|until|till|and)\b) ?(?P<end>.+)",
    re.IGNORECASE,
)
_END_OF_DAY = re.compile(r"24(?:[:.]?00)?")


class QuietQuestionError(ValueError):
    """The hours cannot be told from the words; the message asks back."""


def read_quiet_words(text: str) -> tuple[time, time]:
    """When they begin and end. Raises QuietQuestionError."""
    found = _FROM_TO.fullmatch(" ".join(text.split()))
    if found is None:
        raise QuietQuestionError(f"From when until when? {_EXAMPLE}")
    start, end = _clock(found["start"]), _clock(found["end"])
    if start.is_spoken and not start.is_sure:
        early, late = start.as_written, start.other_half
        raise QuietQuestionError(f"Do they begin at {early:%H:%M} or at {late:%H:%M}? {_EXAMPLE}")
    if start.as_written == end.as_written:
        raise QuietQuestionError(f"They must end at another time than they begin. {_EXAMPLE}")
    return start.as_written, end.as_written


def _clock(text: str) -> Clock:
    if _END_OF_DAY.fullmatch(text):
        return Clock(0, is_midnight=True)
    words = Words(text)
    try:
        clock = take_clock(words, after_day=True)
    except AskBackError as puzzle:
        raise QuietQuestionError(str(puzzle)) from puzzle
    if clock is None or not words.is_done:
        raise QuietQuestionError(f"From when until when? {_EXAMPLE}")
    return clock
