"""Reads how long a server asks to wait: from a Retry-After value, or from an error's text."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

MAX_RETRY_AFTER = timedelta(days=30)
_MAX_TEXT_LENGTH = 100
_MIN_EPOCH_SECONDS = 10**8  # larger numbers are Unix timestamps
_HTTP_DATE = "%a, %d %b %Y %H:%M:%S GMT"
_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3_600, "d": 86_400}
_NUMBER = r"\d{1,12}(?:\.\d{1,12})?"
_UNIT = (
    r"(?:ms|msecs?|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)(?![a-z])"
)
_PART_PATTERN = rf"({_NUMBER})\s?({_UNIT})"
_DURATION_PATTERN = rf"{_NUMBER}\s?{_UNIT}(?:,?\s?(?:and\s)?{_NUMBER}\s?{_UNIT}){{0,4}}"
# A number that continues as a date, a time or a word is not a number of seconds.
_NUMBER_END = r"(?![\w:/%-]|[.,]\d|\s{1,4}[a-z])"
_QUOTES_OR_SPACES = r"[\\\"'\s]{0,12}"
_FIELD_PATTERN = (
    r"(?:retry[-_ ]?(?:after|delay|in)|ratelimit-reset-after)"
    r"(?P<unit>[-_]?(?:ms|milliseconds|seconds|secs?))?"
    rf"{_QUOTES_OR_SPACES}[:=]{_QUOTES_OR_SPACES}(?:(?P<duration>{_DURATION_PATTERN})|(?P<number>{_NUMBER})(?![\w:/%-]|[.,]\d))"
    r"|retry_?delay\s{0,9}\{\s{0,9}seconds:\s{0,9}(?P<seconds>\d{1,9})(?!\d)"
)
_SENTENCE_PATTERN = (
    r"(?:\b(?:re)?try(?:\s(?:again|later|it|(?:your|the|this)\srequest)){0,2}\s(?:in|after)"
    r"|\b(?:please|must|should)\swait(?:\sfor)?)\s(?:at\sleast\s|about\s|approximately\s|another\s|~)?"
    rf"(?P<duration>{_DURATION_PATTERN})"
    rf"|\bretry\safter\s(?P<number>{_NUMBER}){_NUMBER_END}"
)


def parse_retry_after(value: Any, *, at: Any = None) -> timedelta | None:
    """Return the wait that `value` asks for, from 0 to 30 days, or None if it is invalid.

    Accepts seconds as a number or text, a duration such as `1m30s` and, if `at` is given, an HTTP
    date. A date in the past gives 0.
    """
    if isinstance(value, timedelta):
        value = value.total_seconds()
    if isinstance(value, str):
        value = _parse_seconds(value.strip(), at)
    if isinstance(value, bool) or not isinstance(value, int | float) or not _is_finite(value):
        return None
    return timedelta(seconds=min(max(value, 0), MAX_RETRY_AFTER.total_seconds()))


def find_retry_after(text: str) -> timedelta | None:
    """Return the wait that `text` asks for in a header, field or sentence, else None.

    A header or field wins over a sentence, and the last of several wins.
    """
    lowered = text.lower()
    if "try" not in lowered and "wait" not in lowered and "reset-after" not in lowered:
        return None
    for pattern in (_FIELD_PATTERN, _SENTENCE_PATTERN):
        waits = [
            seconds
            for match in _compile(pattern).finditer(lowered)
            for seconds in _matched_seconds(match)
        ]
        if waits:
            return parse_retry_after(waits[-1])
    return None


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    """Compile on first use, because few failures name a wait."""
    return re.compile(pattern)


def _matched_seconds(match: re.Match[str]) -> Iterator[float]:
    groups = match.groupdict()
    if groups["duration"]:
        yield _sum_duration(groups["duration"])
        return
    number = float(groups["number"] or groups["seconds"])
    is_milliseconds = (groups.get("unit") or "").strip("-_").startswith("m")
    seconds = number * _UNITS["ms"] if is_milliseconds else number
    if seconds < _MIN_EPOCH_SECONDS:
        yield seconds


def _parse_seconds(text: str, at: Any) -> float | None:
    if len(text) > _MAX_TEXT_LENGTH:
        return None
    if _compile(_DURATION_PATTERN).fullmatch(text.lower()):
        return _sum_duration(text.lower())
    try:
        return float(text)
    except ValueError:
        return _seconds_until(text, at)


def _sum_duration(duration: str) -> float:
    return sum(
        float(number) * _unit_seconds(unit)
        for number, unit in _compile(_PART_PATTERN).findall(duration)
    )


def _unit_seconds(unit: str) -> float:
    return _UNITS["ms"] if unit.startswith(("ms", "mil")) else _UNITS[unit[0]]


def _seconds_until(date: str, at: Any) -> float | None:
    if not isinstance(at, datetime) or at.tzinfo is None:
        return None
    try:
        until = datetime.strptime(date, _HTTP_DATE).replace(tzinfo=UTC)
    except ValueError:
        return None
    return (until - at).total_seconds()


def _is_finite(value: float) -> bool:
    return isinstance(value, int) or math.isfinite(value)
