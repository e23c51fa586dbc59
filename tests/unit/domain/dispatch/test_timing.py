"""Who sends a task to the queue, and with what delay: around every edge."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from duecourse.domain.dispatch.timing import (
    EARLY_TOLERANCE,
    INDEX_LAG,
    Dispatch,
    delay_seconds,
    is_due_soon,
    is_early,
    scan_horizon,
)

from tests.support.builders.moments import MILLISECOND, MINUTE, NOW, parse_instant


@pytest.mark.parametrize("late", [timedelta(0), MILLISECOND, timedelta(seconds=59.999)])
def test_a_look_sees_as_far_as_if_it_had_begun_on_the_minute(late: timedelta) -> None:
    assert scan_horizon(parse_instant("2026-02-17T12:00Z") + late) == parse_instant(
        "2026-02-17T12:02:10Z"
    )


@pytest.mark.parametrize(
    ("now", "due_at", "is_fast"),
    [
        ("12:00:00", "11:00:00", True),
        ("12:00:00", "12:00:10", True),
        ("12:00:00", "12:03:09.999", False),  # the look of 12:01 sees it, a minute from now
        ("12:00:00", "12:02:09.999", True),  # the look of 12:00 does, but the index may lag
        ("12:00:00", "12:02:10", False),
        ("12:00:30", "12:02:10", False),  # written just in time for the look of 12:01
        ("12:00:30.001", "12:02:10", True),
        ("12:00:30.001", "12:03:09.999", True),
        ("12:00:30.001", "12:03:10", False),
    ],
)
def test_what_no_look_can_be_trusted_to_see_takes_the_fast_lane(
    now: str, due_at: str, is_fast: bool
) -> None:
    due, written = parse_instant(f"2026-02-17T{due_at}Z"), parse_instant(f"2026-02-17T{now}Z")
    assert is_due_soon(due, now=written) is is_fast


def test_the_index_is_given_half_a_minute_to_catch_up() -> None:
    assert timedelta(seconds=30) == INDEX_LAG


@pytest.mark.parametrize(
    ("left", "seconds"),
    [
        (timedelta(days=-1), 0),
        (-MILLISECOND, 0),
        (timedelta(0), 0),
        (timedelta(seconds=0.999), 0),
        (timedelta(seconds=1), 1),
        (timedelta(seconds=9.999), 9),
        (timedelta(minutes=15), 900),
        (timedelta(minutes=15, seconds=1), 900),
        (timedelta(days=400), 900),
    ],
)
def test_a_delay_is_whole_seconds_rounded_down_within_what_sqs_takes(
    left: timedelta, seconds: int
) -> None:
    assert delay_seconds(NOW + left, now=NOW) == seconds


@pytest.mark.parametrize(
    ("left", "early"),
    [
        (-MINUTE, False),
        (EARLY_TOLERANCE - MILLISECOND, False),
        (EARLY_TOLERANCE, False),
        (EARLY_TOLERANCE + MILLISECOND, True),
    ],
)
def test_a_message_is_early_when_more_is_left_than_rounding_explains(
    left: timedelta, early: bool
) -> None:
    assert is_early(NOW + left, now=NOW) is early


@pytest.mark.parametrize("due_at", [NOW, NOW + MILLISECOND])
def test_dispatches_sort_by_their_due_time(due_at: datetime) -> None:
    assert Dispatch(due_at, "b") < Dispatch(due_at + MILLISECOND, "a")
