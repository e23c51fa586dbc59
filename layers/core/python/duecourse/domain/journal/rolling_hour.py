"""Counts of the last 60 minutes, estimated from counters per whole hour.

The previous hour's runs are assumed to be spread evenly: at a quarter past, three quarters of them
count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction

from duecourse.domain.journal.counters import (
    CATEGORY_PREFIX,
    HOUR_PREFIX,
    LATE_HOUR_PREFIX,
    LATENESS_COUNTER,
    hour_digit,
)
from duecourse.domain.journal.daily_counter import DailyCounter
from duecourse.domain.time.utc_days import utc_day

MIN_RUNS = 20  # with fewer, a single run would change the percentage too much
HOUR = timedelta(hours=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class HourCounts:
    """The runs that failed and succeeded, and how many of the latter were late."""

    failed: Fraction | int = 0
    succeeded: Fraction | int = 0
    late: Fraction | int = 0

    @property
    def runs(self) -> Fraction | int:
        return self.failed + self.succeeded

    @property
    def failed_percent(self) -> Fraction:
        """The share of failed runs; 0 with fewer than MIN_RUNS runs."""
        return _percent(self.failed, self.runs) if self.runs >= MIN_RUNS else Fraction(0)

    @property
    def late_percent(self) -> Fraction:
        """The share of late runs; 0 with fewer than MIN_RUNS successful runs."""
        has_enough = self.succeeded >= MIN_RUNS
        return _percent(self.late, self.succeeded) if has_enough else Fraction(0)

    def __add__(self, other: HourCounts) -> HourCounts:
        return HourCounts(
            failed=self.failed + other.failed,
            succeeded=self.succeeded + other.succeeded,
            late=self.late + other.late,
        )

    def __mul__(self, part: Fraction) -> HourCounts:
        return HourCounts(
            failed=self.failed * part, succeeded=self.succeeded * part, late=self.late * part
        )


def days_of_last_hour(now: datetime) -> list[str]:
    """Return the UTC days the last hour touches: two in the first hour of a day, latest first."""
    return sorted({utc_day(now), utc_day(now - HOUR)}, reverse=True)


def count_last_hour(counters: Sequence[DailyCounter], *, now: datetime) -> HourCounts:
    passed = Fraction(60 * now.minute + now.second, 3600)
    return count_hour(now, counters) + count_hour(now - HOUR, counters) * (1 - passed)


def count_hour(instant: datetime, counters: Sequence[DailyCounter]) -> HourCounts:
    """Return the counts of the whole UTC hour that contains `instant`."""
    day, digit = utc_day(instant), hour_digit(instant)
    of_day = [one for one in counters if one.day == day]
    failed = [one for one in of_day if one.name.startswith(CATEGORY_PREFIX)]
    succeeded = [one for one in of_day if one.name == LATENESS_COUNTER]
    return HourCounts(
        failed=_sum(failed, HOUR_PREFIX + digit),
        succeeded=_sum(succeeded, HOUR_PREFIX + digit),
        late=_sum(succeeded, LATE_HOUR_PREFIX + digit),
    )


def _sum(counters: Sequence[DailyCounter], name: str) -> int:
    return sum(one.numbers.get(name, 0) for one in counters)


def _percent(part: Fraction | int, whole: Fraction | int) -> Fraction:
    return Fraction(100 * part, whole)
