"""How long a server asks to be left alone: as a value of its own, or told in an error's text."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

LONGEST_RETRY_AFTER = timedelta(days=30)
_LONGEST_TEXT = 100
_AN_INSTANT = 10**8  # so many seconds are one since 1970
_HTTP_DATE = "%a, %d %b %Y %H:%M:%S GMT"
_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3_600, "d": 86_400}
_NUMBER = r"\d{1,12}(?:\.\d{1,12})?"
_UNIT = (
    r"(?:ms|msecs?|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)(?![a-z])"
)
_PART = rf"({_NUMBER})\s?({_UNIT})"
_DURATION = rf"{_NUMBER}\s?{_UNIT}(?:,?\s?(?:and\s)?{_NUMBER}\s?{_UNIT}){{0,4}}"
# A number that a date, a time or a word goes on with is no number of seconds.
_ALONE = r"(?![\w:/%-]|[.,]\d|\s{1,4}[a-z])"
_MARKS = r"[\\\"'\s]{0,12}"
_FIELD = (
    r"(?:retry[-_ ]?(?:after|delay|in)|ratelimit-reset-after)"
    r"(?P<unit>[-_]?(?:ms|milliseconds|seconds|secs?))?"
    rf"{_MARKS}[:=]{_MARKS}(?:(?P<duration>{_DURATION})|(?P<number>{_NUMBER})(?![\w:/%-]|[.,]\d))"
    r"|retry_?delay\s{0,9}\{\s{0,9}seconds:\s{0,9}(?P<seconds>\d{1,9})(?!\d)"
)
_SENTENCE = (
    r"(?:\b(?:re)?try(?:\s(?:again|later|it|(?:your|the|this)\srequest)){0,2}\s(?:in|after)"
    r"|\b(?:please|must|should)\swait(?:\sfor)?)\s(?:at\sleast\s|about\s|approximately\s|another\s|~)?"
    rf"(?P<duration>{_DURATION})"
    rf"|\bretry\safter\s(?P<number>{_NUMBER}){_ALONE}"
)


def read_wait(value: Any, *, at: Any = None) -> timedelta | None:
    """Seconds as a number or in digits, a duration such as `1m30s`, or with `at` an HTTP date.

    None for what makes no sense; what is past asks for no wait, and no wait is over 30 days.
    """
    if isinstance(value, timedelta):
        value = value.total_seconds()
    if isinstance(value, str):
        value = _seconds_in(value.strip(), at)
    if isinstance(value, bool) or not isinstance(value, int | float) or not _is_finite(value):
        return None
    return timedelta(seconds=min(max(value, 0), LONGEST_RETRY_AFTER.total_seconds()))


def wait_told_in(text: str) -> timedelta | None:
    """What a header, a field or a sentence in it asks for; the last one, if there are several."""
    small = text.lower()
    if "try" not in small and "wait" not in small and "reset-after" not in small:
        return None
    for pattern in (_FIELD, _SENTENCE):
        told = [seconds for found in _compiled(pattern).finditer(small) for seconds in _told(found)]
        if told:
            return read_wait(told[-1])
    return None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """On first use: few failures tell a wait."""
    return re.compile(pattern)


def _told(found: re.Match[str]) -> Iterator[float]:
    named = found.groupdict()
    if named["duration"]:
        yield _sum_of(named["duration"])
        return
    number = float(named["number"] or named["seconds"])
    is_small = (named.get("unit") or "").strip("-_").startswith("m")
    seconds = number * _UNITS["ms"] if is_small else number
    if seconds < _AN_INSTANT:
        yield seconds


def _seconds_in(text: str, at: Any) -> float | None:
    if len(text) > _LONGEST_TEXT:
        return None
    if _compiled(_DURATION).fullmatch(text.lower()):
        return _sum_of(text.lower())
    try:
        return float(text)
    except ValueError:
        return _seconds_until(text, at)


def _sum_of(duration: str) -> float:
    return sum(
        float(number) * _size_of(unit) for number, unit in _compiled(_PART).findall(duration)
    )


def _size_of(unit: str) -> float:
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
