"""Instants as text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from duecourse.domain.time.instant import from_text, to_text, truncate_to_millisecond

INDIA = timezone(timedelta(hours=5, minutes=30))


@pytest.mark.parametrize(
    ("instant", "text"),
    [
        (datetime(2026, 2, 17, 15, tzinfo=UTC), "2026-02-17T15:00:00.000Z"),
        (datetime(2026, 2, 17, 15, 0, 0, 7_999, tzinfo=UTC), "2026-02-17T15:00:00.007Z"),
        (datetime(2026, 2, 17, 15, tzinfo=INDIA), "2026-02-17T09:30:00.000Z"),
        (datetime(800, 1, 1, tzinfo=UTC), "0800-01-01T00:00:00.000Z"),
    ],
)
def test_an_instant_is_written_in_utc_to_the_millisecond(instant: datetime, text: str) -> None:
    assert to_text(instant) == text


def test_a_time_without_a_timezone_is_rejected() -> None:
    with pytest.raises(ValueError, match="has no time zone"):
        to_text(datetime.fromisoformat("2026-02-17T15:00"))


@pytest.mark.parametrize(
    "text",
    [
        *("2026-02-17T15:00:00.000Z", "2026-02-17T15:00:00", "2026-02-17 15:00:00"),
        "2026-02-17T16:00:00+01:00",
    ],
)
def test_earlier_formats_are_parsed_as_utc(text: str) -> None:
    instant = from_text(text)
    assert (instant, instant.tzinfo) == (datetime(2026, 2, 17, 15, tzinfo=UTC), UTC)


@pytest.mark.parametrize("text", ["", "soon", "2026-02-17T15:00:00.000X"])
def test_an_invalid_time_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match="Invalid isoformat string"):
        from_text(text)


@pytest.mark.parametrize(
    ("microsecond", "expected"), [(0, 0), (999, 0), (1000, 1000), (999_999, 999_000)]
)
def test_an_instant_is_truncated_to_milliseconds(microsecond: int, expected: int) -> None:
    instant = datetime(2026, 2, 17, tzinfo=UTC)
    assert truncate_to_millisecond(instant.replace(microsecond=microsecond)) == instant.replace(
        microsecond=expected
    )
