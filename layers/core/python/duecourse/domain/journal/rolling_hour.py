"""What ran within the last hour, made of counters that know whole hours only.

What the hour before counted is taken to have come evenly: at a quarter past, three quarters of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction

from duecourse.domain.journal.counters import CATEGORY, IN_HOUR, LATE_IN_HOUR, LATENESS, hour_digit
from duecourse.domain.journal.failure_tracker import day_of
from duecourse.domain.journal.stats import Counted

FEWEST_RUNS = 20  # of fewer, one more or less would make all the difference
HOUR = timedelta(hours=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Hour:
    """Of the runs that ended, how many failed and succeeded, and of the latter how many late."""

    failed: Fraction | int = 0
    succeeded: Fraction | int = 0
    late: Fraction | int = 0

    @property
    def runs(self) -> Fraction | int:
        return self.failed + self.succeeded

    @property
    def failed_percent(self) -> Fraction:
        """0 where too few ran to say so."""
        return _percent(self.failed, self.runs) if self.runs >= FEWEST_RUNS else Fraction(0)

    @property
    def late_percent(self) -> Fraction:
        """0 where too few succeeded to say so."""
        has_enough = self.succeeded >= FEWEST_RUNS
        return _percent(self.late, self.succeeded) if has_enough else Fraction(0)

    def __add__(self, other: Hour) -> Hour:
        return Hour(
            failed=self.failed + other.failed,
            succeeded=self.succeeded + other.succeeded,
            late=self.late + other.late,
        )

    def __mul__(self, part: Fraction) -> Hour:
        return Hour(
            failed=self.failed * part, succeeded=self.succeeded * part, late=self.late * part
        )


def days_with_last_hour(now: datetime) -> list[str]:
    """Two of them in the first hour of a day."""
    return sorted({day_of(now), day_of(now - HOUR)}, reverse=True)


def last_hour(counters: Sequence[Counted], *, now: datetime) -> Hour:
    passed = Fraction(60 * now.minute + now.second, 3600)
    return hour_at(now, counters) + hour_at(now - HOUR, counters) * (1 - passed)


def hour_at(instant: datetime, counters: Sequence[Counted]) -> Hour:
    """The whole hour of UTC that the instant is in."""
    day, digit = day_of(instant), hour_digit(instant)
    of_day = [one for one in counters if one.day == day]
    failed = [one for one in of_day if one.counter.startswith(CATEGORY)]
    ended_well = [one for one in of_day if one.counter == LATENESS]
    return Hour(
        failed=_sum(failed, IN_HOUR + digit),
        succeeded=_sum(ended_well, IN_HOUR + digit),
        late=_sum(ended_well, LATE_IN_HOUR + digit),
    )


def _sum(counters: Sequence[Counted], name: str) -> int:
    return sum(one.numbers.get(name, 0) for one in counters)


def _percent(part: Fraction | int, whole: Fraction | int) -> Fraction:
    return Fraction(100 * part, whole)
