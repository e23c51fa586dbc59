"""UTC days as text."""

from __future__ import annotations

from datetime import timedelta, timezone

import pytest
from duecourse.domain.time.utc_days import days_between, last_days, utc_day

from tests.support.builders.moments import HOUR, NOW


def test_a_day_is_that_of_the_instant_in_utc() -> None:
    assert utc_day(NOW) == "2026-02-17"
    assert utc_day((NOW + 12 * HOUR).astimezone(timezone(timedelta(hours=-8)))) == "2026-02-18"


def test_the_last_days_start_with_the_given_one() -> None:
    assert last_days("2026-03-01", 3) == ["2026-03-01", "2026-02-28", "2026-02-27"]
    assert last_days("2026-03-01", 0) == []


@pytest.mark.parametrize(
    ("first", "last", "days"),
    [
        ("2026-02-27", "2026-03-01", ["2026-02-27", "2026-02-28", "2026-03-01"]),
        ("2026-02-27", "2026-02-27", ["2026-02-27"]),
        ("2026-02-28", "2026-02-27", []),
        ("2026-03-05", "2026-02-27", []),
    ],
)
def test_the_days_between_include_both(first: str, last: str, days: list[str]) -> None:
    assert days_between(first, last) == days


def test_days_can_be_left_out() -> None:
    days = days_between("2026-02-27", "2026-03-01", without={"2026-02-28", "2026-03-09"})
    assert days == ["2026-02-27", "2026-03-01"]
