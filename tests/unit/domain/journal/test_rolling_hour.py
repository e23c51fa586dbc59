"""The counts of the last hour, estimated from counters of whole hours."""

from __future__ import annotations

from datetime import datetime, timedelta
from fractions import Fraction

import pytest
from duecourse.domain.journal.daily_counter import DailyCounter
from duecourse.domain.journal.rolling_hour import (
    HourCounts,
    count_hour,
    count_last_hour,
    days_of_last_hour,
)
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.builders.moments import DAY, HOUR, MINUTE, NOW, parse_instant

MILLISECOND = timedelta(milliseconds=1)
ALMOST_ALL = HourCounts(succeeded=20 + Fraction(40, 120), late=1 + Fraction(10, 120))
TODAY, YESTERDAY = "2026-02-17", "2026-02-16"
COUNTERS = [
    DailyCounter(TODAY, "after_retries", {"hc": 99}),
    DailyCounter(TODAY, "category#timeout", {"errors": 8, "hb": 4, "hc": 2}),
    DailyCounter(TODAY, "category#unknown", {"errors": 8, "hb": 2}),
    DailyCounter(TODAY, "lateness", {"runs": 99, "b3": 99, "hb": 40, "lb": 10, "hc": 20, "lc": 1}),
    DailyCounter(TODAY, "pattern#timeout#x", {"hc": 99}),
    DailyCounter(YESTERDAY, "lateness", {"hb": 1000, "hc": 1000}),
]


def test_an_hour_sums_failures_and_successes() -> None:
    assert count_hour(NOW + 59 * MINUTE, COUNTERS) == HourCounts(failed=2, succeeded=20, late=1)
    assert count_hour(NOW - MINUTE, COUNTERS) == HourCounts(failed=6, succeeded=40, late=10)


def test_an_hour_in_which_nothing_ran_is_empty() -> None:
    assert count_hour(NOW + HOUR, COUNTERS) == HourCounts()


@pytest.mark.parametrize(
    ("elapsed", "expected"),
    [
        (0 * MINUTE, HourCounts(failed=8, succeeded=60, late=11)),
        (30 * MINUTE, HourCounts(failed=5, succeeded=40, late=6)),
        (45 * MINUTE, HourCounts(failed=Fraction(7, 2), succeeded=30, late=Fraction(7, 2))),
        (timedelta(minutes=59, seconds=30), HourCounts(failed=2 + Fraction(6, 120)) + ALMOST_ALL),
    ],
)
def test_the_previous_hour_counts_in_proportion_to_its_overlap(
    elapsed: timedelta, expected: HourCounts
) -> None:
    assert count_last_hour(COUNTERS, now=NOW + elapsed) == expected


@pytest.mark.parametrize(
    ("now", "days"),
    [
        ("2026-02-17T01:00:00Z", [TODAY]),
        ("2026-02-17T00:59:59Z", [TODAY, YESTERDAY]),
        ("2026-02-17T00:00:00Z", [TODAY, YESTERDAY]),
    ],
)
def test_yesterday_is_read_in_the_first_hour_of_a_day(now: str, days: list[str]) -> None:
    assert days_of_last_hour(parse_instant(now)) == days


@given(
    elapsed=st.timedeltas(timedelta(0), HOUR - MILLISECOND),
    previous_count=st.integers(1, 10_000),
    current_count=st.integers(3, 10_000),
    percent=st.integers(0, 100),
)
@example(elapsed=timedelta(seconds=7), previous_count=11, current_count=7, percent=10)
def test_a_constant_rate_stays_constant(
    elapsed: timedelta, previous_count: int, current_count: int, percent: int
) -> None:
    """Splitting an hour must not push a rate above its limit."""
    failed = {"hb": previous_count * percent, "hc": current_count * percent}
    succeeded = {"hb": previous_count * (100 - percent), "hc": current_count * (100 - percent)}
    counters = [
        DailyCounter(TODAY, "category#x", failed),
        DailyCounter(TODAY, "lateness", succeeded),
    ]
    assert count_last_hour(counters, now=NOW + elapsed).failed_percent == percent


def test_the_last_hour_can_begin_yesterday() -> None:
    counters = [
        DailyCounter(TODAY, "lateness", {"h0": 10}),
        DailyCounter(YESTERDAY, "lateness", {"hn": 30}),
    ]
    midnight: datetime = NOW - DAY / 2
    assert count_last_hour(counters, now=midnight + 30 * MINUTE) == HourCounts(succeeded=25)


@pytest.mark.parametrize(
    ("hour", "failed", "late"),
    [
        (HourCounts(), 0, 0),
        (HourCounts(failed=5, succeeded=14, late=3), 0, 0),
        (HourCounts(failed=5, succeeded=15, late=3), 25, 0),
        (HourCounts(failed=5, succeeded=20, late=3), 20, 15),
    ],
)
def test_too_few_runs_give_a_rate_of_zero(hour: HourCounts, failed: int, late: int) -> None:
    assert [hour.failed_percent, hour.late_percent] == [failed, late]
