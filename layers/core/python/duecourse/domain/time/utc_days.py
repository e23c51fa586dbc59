"""UTC days as text that sorts by time."""

from __future__ import annotations

from collections.abc import Container
from datetime import date, datetime, timedelta

from duecourse.domain.time.instant import to_text


def utc_day(instant: datetime) -> str:
    return to_text(instant)[:10]


def last_days(day: str, count: int) -> list[str]:
    """Return `count` days back from `day`, `day` first."""
    last = date.fromisoformat(day)
    return [(last - timedelta(days=n)).isoformat() for n in range(count)]


def days_between(first: str, last: str, *, without: Container[str] = ()) -> list[str]:
    """Return the days from `first` to `last`, both included, except those in `without`."""
    count = (date.fromisoformat(last) - date.fromisoformat(first)).days + 1
    return [day for day in reversed(last_days(last, max(0, count))) if day not in without]
