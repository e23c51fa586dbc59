"""Parses durations: `30s`, `2h30m`, `7d`, or a number of seconds."""

from __future__ import annotations

import math
import re
from datetime import timedelta

MAX_DURATION = timedelta(days=36_525)
_UNITS = {"w": 604_800, "d": 86_400, "h": 3_600, "m": 60, "s": 1}
_PART_PATTERN = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)([wdhms])")
_DURATION_PATTERN = re.compile(rf"(?:{_PART_PATTERN.pattern}){{1,5}}")
_SECONDS_PATTERN = re.compile(r"\d{1,12}(?:\.\d{1,6})?")


def parse_duration(value: object) -> timedelta:
    """Return the duration, rounded to milliseconds. Raises ValueError naming what is accepted."""
    seconds = _to_seconds(value)
    if seconds is None or not math.isfinite(seconds) or seconds < 0:
        raise ValueError('must be a duration such as "30s", "2h30m" or "7d", or seconds')
    if seconds > MAX_DURATION.total_seconds():
        raise ValueError("must be at most 100 years")
    return timedelta(milliseconds=round(seconds * 1000))


def _to_seconds(value: object) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value) if abs(value) < 1e15 else math.inf
    if not isinstance(value, str):
        return None
    text = value.strip().lower()
    if _SECONDS_PATTERN.fullmatch(text):
        return float(text)
    if _DURATION_PATTERN.fullmatch(text):
        return sum(float(number) * _UNITS[unit] for number, unit in _PART_PATTERN.findall(text))
    return None
