"""Parse quiet hours as people write them: `22:00-7:00`, `10pm to 7am`, `from 22 until 7`."""

from __future__ import annotations

import re
from datetime import time

from duecourse.domain.naturaltime.clock import take_clock
from duecourse.domain.naturaltime.clock_time import ClockTime
from duecourse.domain.naturaltime.tokens import ClarificationNeededError, TokenStream

_EXAMPLE = "Example: /quiet 22:00-7:00"
_RANGE_PATTERN = re.compile(
    r"(?:from |between )?(?P<start>.+?) ?(?:-|–|—|\b(?:to|until|till|and)\b) ?(?P<end>.+)",
    re.IGNORECASE,
)
_END_OF_DAY_PATTERN = re.compile(r"24(?:[:.]?00)?")


class QuietHoursClarificationError(ValueError):
    """The text is ambiguous or invalid. The message is a question for the sender."""


def parse_quiet_hours(text: str) -> tuple[time, time]:
    """Return start and end. Raises QuietHoursClarificationError."""
    found = _RANGE_PATTERN.fullmatch(" ".join(text.split()))
    if found is None:
        raise QuietHoursClarificationError(f"From when until when? {_EXAMPLE}")
    start, end = _parse_clock(found["start"]), _parse_clock(found["end"])
    if start.is_informal and not start.is_unambiguous:
        early, late = start.time_as_written, start.time_in_other_half
        raise QuietHoursClarificationError(
            f"Do they start at {early:%H:%M} or {late:%H:%M}? {_EXAMPLE}"
        )
    if start.time_as_written == end.time_as_written:
        raise QuietHoursClarificationError(f"Start and end must differ. {_EXAMPLE}")
    return start.time_as_written, end.time_as_written


def _parse_clock(text: str) -> ClockTime:
    if _END_OF_DAY_PATTERN.fullmatch(text):
        return ClockTime(0, is_midnight=True)
    words = TokenStream(text)
    try:
        clock = take_clock(words, is_after_day=True)
    except ClarificationNeededError as error:
        raise QuietHoursClarificationError(str(error)) from error
    if clock is None or not words.is_exhausted:
        raise QuietHoursClarificationError(f"From when until when? {_EXAMPLE}")
    return clock
