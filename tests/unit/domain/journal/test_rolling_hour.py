"""The last hour, as far as counters of whole hours can tell."""

from __future__ import annotations

from datetime import datetime, timedelta
from fractions import Fraction

import pytest
from duecourse.domain.journal.rolling_hour import (
    HourCounts,
    count_hour,
    count_last_hour,
    days_of_last_hour,
)
from duecourse.domain.journal.stats import DailyCounter
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


def test_an_hour_sums_up_what_failed_and_what_succeeded() -> None:
    assert count_hour(NOW + 59 * MINUTE, COUNTERS) == HourCounts(failed=2, succeeded=20, late=1)
    assert count_hour(NOW - MINUTE, COUNTERS) == HourCounts(failed=6, succeeded=40, late=10)


def test_an_hour_in_which_nothing_ran_is_empty() -> None:
    assert count_hour(NOW + HOUR, COUNTERS) == HourCounts()


@pytest.mark.parametrize(
    ("passed", "expected"),
    [
        (0 * MINUTE, HourCounts(failed=8, succeeded=60, late=11)),
        (30 * MINUTE, HourCounts(failed=5, succeeded=40, late=6)),
        (45 * MINUTE, HourCounts(failed=Fraction(7, 2), succeeded=30, late=Fraction(7, 2))),
        (timedelta(minutes=59, seconds=30), HourCounts(failed=2 + Fraction(6, 120)) + ALMOST_ALL),
    ],
)
def test_of_the_hour_before_the_part_counts_that_is_no_hour_ago(
    passed: timedelta, expected: HourCounts
) -> None:
    assert count_last_hour(COUNTERS, now=NOW + passed) == expected


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
    passed=st.timedeltas(timedelta(0), HOUR - MILLISECOND),
    before=st.integers(1, 10_000),
    since=st.integers(3, 10_000),
    percent=st.integers(0, 100),
)
@example(passed=timedelta(seconds=7), before=11, since=7, percent=10)
def test_a_rate_that_stays_the_same_does_not_seem_to_change(
    passed: timedelta, before: int, since: int, percent: int
) -> None:
    """It must not come to lie above its limit by being shared."""
    failed = {"hb": before * percent, "hc": since * percent}
    succeeded = {"hb": before * (100 - percent), "hc": since * (100 - percent)}
    counters = [
        DailyCounter(TODAY, "category#x", failed),
        DailyCounter(TODAY, "lateness", succeeded),
    ]
    assert count_last_hour(counters, now=NOW + passed).failed_percent == percent


def test_the_last_hour_may_begin_yesterday() -> None:
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
def test_too_few_runs_have_no_rate(hour: HourCounts, failed: int, late: int) -> None:
    assert [hour.failed_percent, hour.late_percent] == [failed, late]
