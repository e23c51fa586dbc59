"""When a task is enqueued at once or by a scan, and with what delay, at every boundary."""

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


@pytest.mark.parametrize("scan_delay", [timedelta(0), MILLISECOND, timedelta(seconds=59.999)])
def test_the_scan_horizon_counts_from_the_full_minute(scan_delay: timedelta) -> None:
    assert scan_horizon(parse_instant("2026-02-17T12:00Z") + scan_delay) == parse_instant(
        "2026-02-17T12:02:10Z"
    )


@pytest.mark.parametrize(
    ("now", "due_at", "is_enqueued"),
    [
        ("12:00:00", "11:00:00", True),
        ("12:00:00", "12:00:10", True),
        ("12:00:00", "12:03:09.999", False),  # the scan of 12:01 finds it, a minute from now
        ("12:00:00", "12:02:09.999", True),  # the scan of 12:00 may miss it: the index lags
        ("12:00:00", "12:02:10", False),
        ("12:00:30", "12:02:10", False),  # written just in time for the scan of 12:01
        ("12:00:30.001", "12:02:10", True),
        ("12:00:30.001", "12:03:09.999", True),
        ("12:00:30.001", "12:03:10", False),
    ],
)
def test_a_task_that_no_scan_reliably_finds_is_due_soon(
    now: str, due_at: str, is_enqueued: bool
) -> None:
    due_instant, write_instant = (
        parse_instant(f"2026-02-17T{due_at}Z"),
        parse_instant(f"2026-02-17T{now}Z"),
    )
    assert is_due_soon(due_instant, now=write_instant) is is_enqueued


def test_the_index_lag_is_half_a_minute() -> None:
    assert timedelta(seconds=30) == INDEX_LAG


@pytest.mark.parametrize(
    ("remaining", "seconds"),
    [
        (timedelta(days=-1), 0),
        (-MILLISECOND, 0),
        (timedelta(0), 0),
        (timedelta(seconds=0.899), 0),
        (timedelta(seconds=0.9), 1),
        (timedelta(seconds=1), 1),
        (timedelta(seconds=9.899), 9),
        (timedelta(seconds=9.999), 10),
        (timedelta(minutes=14, seconds=59.999), 900),
        (timedelta(minutes=15), 900),
        (timedelta(minutes=15, seconds=1), 900),
        (timedelta(days=400), 900),
    ],
)
def test_a_delay_is_whole_seconds_that_end_a_tenth_late_at_most(
    remaining: timedelta, seconds: int
) -> None:
    assert delay_seconds(NOW + remaining, now=NOW) == seconds


@pytest.mark.parametrize(
    ("remaining", "is_early_message"),
    [
        (-MINUTE, False),
        (EARLY_TOLERANCE - MILLISECOND, False),
        (EARLY_TOLERANCE, False),
        (EARLY_TOLERANCE + MILLISECOND, True),
    ],
)
def test_a_message_is_early_if_more_time_remains_than_the_tolerance(
    remaining: timedelta, is_early_message: bool
) -> None:
    assert is_early(NOW + remaining, now=NOW) is is_early_message


@pytest.mark.parametrize("due_at", [NOW, NOW + MILLISECOND])
def test_dispatches_sort_by_their_due_time(due_at: datetime) -> None:
    assert Dispatch(due_at, "b") < Dispatch(due_at + MILLISECOND, "a")
