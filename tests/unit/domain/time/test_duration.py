"""Parsing of durations."""

from __future__ import annotations

from datetime import timedelta

import pytest
from duecourse.domain.time.duration import MAX_DURATION, parse_duration

DAY = 86_400


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("30s", 30),
        ("2m", 120),
        ("2h30m", 9000),
        ("7d", 7 * DAY),
        ("1w", 7 * DAY),
        ("1w2d3h4m5s", 9 * DAY + 3 * 3600 + 4 * 60 + 5),
        (" 10M ", 600),
        ("1.5h", 5400),
        ("0s", 0),
        ("90", 90),
        ("0.25", 0.25),
        (90, 90),
        (1.5, 1.5),
        (0, 0),
        (-0.0, 0),
        (1e-9, 0),
        ("36525d", 36_525 * DAY),
    ],
)
def test_a_duration_is_parsed(value: object, seconds: float) -> None:
    assert parse_duration(value) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "value",
    [
        *("", " ", "s", "soon", "5 m", "m5", "-5s", "+5s", "1y", "5s!", "1.s", ".5s", "1e3"),
        *("5m,3s", "1s" * 6, "9" * 13, True, False, None, [], {}, b"5s", -1, -0.5),
        *(float("nan"), float("inf"), float("-inf"), -(10**400)),
    ],
)
def test_an_invalid_duration_is_rejected_with_examples(value: object) -> None:
    with pytest.raises(ValueError, match='must be a duration such as "30s"'):
        parse_duration(value)


@pytest.mark.parametrize("value", ["36525d1s", "36525.1d", "999999999999w", 4e9])
def test_a_duration_over_a_hundred_years_is_rejected(value: object) -> None:
    with pytest.raises(ValueError, match="must be at most 100 years"):
        parse_duration(value)


def test_a_duration_is_rounded_to_milliseconds() -> None:
    assert parse_duration("1.2346s") == timedelta(milliseconds=1235)


def test_the_maximum_duration_is_a_century() -> None:
    assert timedelta(days=36_525) == MAX_DURATION
