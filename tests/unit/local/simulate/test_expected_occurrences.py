"""The oracle of series: by hand for what is hard, and every rule of the workload."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice
from zoneinfo import ZoneInfo

import pytest
from duecourse.domain.time.recurrence import RecurrenceRule, Series

from local.simulate.expected_occurrences import ExpectedSeries, expected_series, to_instant
from local.simulate.start import OTHER_DATES
from local.simulate.workload import series_operations

BERLIN, LORD_HOWE = "Europe/Berlin", "Australia/Lord_Howe"
RULES = (
    *series_operations._FAST,
    *series_operations._NAMED,
    *series_operations._CRON,
    *series_operations._RRULE,
)


def _first(repeat: str, anchor: str, zone: str, count: int = 3) -> list[str]:
    series = ExpectedSeries(repeat, datetime.fromisoformat(anchor), ZoneInfo(zone))
    return [one.isoformat()[:16] for one in islice(series.iterate(), count)]


@pytest.mark.parametrize(
    ("repeat", "anchor", "zone", "expected"),
    [
        # Skipped: 29 March has no 02:30 in Berlin; the first valid instant is 03:00, 01:00 UTC.
        ("daily", "2026-03-28T02:30", BERLIN, "03-28T01:30 03-29T01:00 03-30T00:30"),
        # Doubled: 02:30 comes twice on 25 October, and runs at the first.
        ("daily", "2026-10-24T02:30", BERLIN, "10-24T00:30 10-25T00:30 10-26T01:30"),
        # The clock skips half an hour at 02:00 on 4 October.
        ("daily", "2026-10-03T02:10", LORD_HOWE, "10-02T15:40 10-03T15:30 10-04T15:10"),
        ("monthly", "2026-01-31T12:00", "UTC", "01-31T12:00 02-28T12:00 03-31T12:00"),
        ("weekdays", "2026-02-20T12:00", "UTC", "02-20T12:00 02-23T12:00 02-24T12:00"),
        ("weekly", "2026-03-22T12:00", BERLIN, "03-22T11:00 03-29T10:00 04-05T10:00"),
        ("0 10 1 * 1", "2026-02-26T12:00", "UTC", "03-01T10:00 03-02T10:00 03-09T10:00"),
        # All three times of the skipped hour are one instant.
        ("*/20 2 * * *", "2026-03-28T12:00", BERLIN, "03-29T01:00 03-30T00:00 03-30T00:20"),
        (
            "FREQ=MONTHLY;BYMONTHDAY=31",
            "2026-01-31T12:00",
            "UTC",
            "01-31T12:00 03-31T12:00 05-31T12:00",
        ),
        ("FREQ=DAILY;COUNT=2", "2026-02-17T12:00", "UTC", "02-17T12:00 02-18T12:00"),
    ],
)
def test_occurrences_by_hand(repeat: str, anchor: str, zone: str, expected: str) -> None:
    assert [one[5:] for one in _first(repeat, anchor, zone)] == expected.split()


@pytest.mark.parametrize("repeat", RULES)
def test_the_product_agrees_for_every_rule_of_the_workload(repeat: str) -> None:
    for number, day in enumerate(OTHER_DATES):
        zone = ZoneInfo(series_operations.ZONES[number % len(series_operations.ZONES)])
        anchor = datetime(*day, 2, 30, 15)  # noqa: DTZ001 - a wall-clock time
        product = Series(RecurrenceRule.parse(repeat), anchor, zone)
        at = to_instant(anchor, zone)
        following = product.first_from(at)
        for expected in islice(ExpectedSeries(repeat, anchor, zone).iterate(), 6):
            assert following == expected
            following = product.next_after(expected)


def test_a_request_without_a_time_has_no_oracle() -> None:
    assert expected_series({"repeat": "daily", "in": "5s"}) is None
    assert expected_series({"due_at": "2026-02-17T12:05:00"}) is None


def test_a_slow_series_is_distinguished_from_a_fast_one() -> None:
    until = datetime(2026, 4, 28, tzinfo=UTC)
    anchor, zone = datetime(2026, 2, 17, 12, 5), ZoneInfo("UTC")  # noqa: DTZ001
    assert ExpectedSeries("daily", anchor, zone).is_slow(until, 75)
    assert not ExpectedSeries("0 */6 * * *", anchor, zone).is_slow(until, 75)
    assert ExpectedSeries("FREQ=DAILY;COUNT=3", anchor, zone).is_slow(until, 3)
