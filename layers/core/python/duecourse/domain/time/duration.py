"""Durations as people and programs write them: `30s`, `2h30m`, `7d`, or plain seconds."""

from __future__ import annotations

import math
import re
from datetime import timedelta

LONGEST = timedelta(days=36_525)
_UNITS = {"w": 604_800, "d": 86_400, "h": 3_600, "m": 60, "s": 1}
_PART = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)([wdhms])")
_WHOLE = re.compile(rf"(?:{_PART.pattern}){{1,5}}")
_SECONDS = re.compile(r"\d{1,12}(?:\.\d{1,6})?")


def parse_duration(value: object) -> timedelta:
    """Raises ValueError with a sentence that says what is accepted."""
    seconds = _seconds(value)
    if seconds is None or not math.isfinite(seconds) or seconds < 0:
        raise ValueError('must be a duration such as "30s", "2h30m" or "7d", or seconds')
    if seconds > LONGEST.total_seconds():
        raise ValueError("must be at most 100 years")
    return timedelta(milliseconds=round(seconds * 1000))


def _seconds(value: object) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value) if abs(value) < 1e15 else math.inf
    if not isinstance(value, str):
        return None
    text = value.strip().lower()
    if _SECONDS.fullmatch(text):
        return float(text)
    if _WHOLE.fullmatch(text):
        return sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text))
    return None
