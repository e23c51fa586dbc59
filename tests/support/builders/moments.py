"""Instants and durations that tests share."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from duecourse.domain.time.instant import from_text

NOW = datetime(2026, 2, 17, 12, 0, tzinfo=UTC)  # a Tuesday
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
MILLISECOND = timedelta(milliseconds=1)


def parse_instant(text: str) -> datetime:
    return from_text(text)
