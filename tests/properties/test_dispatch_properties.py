"""Every task is dispatched in time, by the fast lane or by a scan."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count

from duecourse.domain.dispatch.lanes import DUE_LANES, Lane
from duecourse.domain.dispatch.timing import (
    INDEX_LAG,
    LATE_TOLERANCE,
    LOOKAHEAD,
    MAX_SLEEP,
    SCAN_INTERVAL,
    aligned_send_time,
    delay_seconds,
    is_due_soon,
    scan_horizon,
)
from hypothesis import given, settings
from hypothesis import strategies as st

MIN_LEAD_TIME = timedelta(seconds=5)  # for a look to begin late and still send its messages
START = datetime(2026, 2, 17, tzinfo=UTC)
milliseconds = st.integers(0, 86_400_000).map(lambda ms: timedelta(milliseconds=ms))
moments = milliseconds.map(lambda passed: START + passed)
short_durations = st.integers(0, 900_000).map(lambda ms: timedelta(milliseconds=ms))
short_offsets = st.integers(-300_000, 600_000).map(lambda ms: timedelta(milliseconds=ms))
lanes = st.sampled_from(DUE_LANES)
property_settings = settings(deadline=None)


def next_scan_from(now: datetime) -> datetime:
    """Return the first whole minute at or after `now`."""
    floor = now.replace(second=0, microsecond=0)
    return floor if floor == now else floor + SCAN_INTERVAL


def first_scan_of(due_at: datetime, lane: Lane, *, since: datetime) -> datetime:
    scans = (next_scan_from(since) + SCAN_INTERVAL * n for n in count())
    return next(scan for scan in scans if scan_horizon(scan, lane) > due_at)


@property_settings
@given(now=moments, ahead=short_offsets | milliseconds, lane=lanes)
def test_a_task_takes_the_fast_lane_or_is_scanned_in_time(
    now: datetime, ahead: timedelta, lane: Lane
) -> None:
    due_at = now + ahead
    seen_at = first_scan_of(due_at, lane, since=now + INDEX_LAG)
    assert is_due_soon(due_at, now=now, lane=lane) or due_at - seen_at >= MIN_LEAD_TIME


@property_settings
@given(now=moments, ahead=short_offsets | milliseconds, lane=lanes)
def test_no_scan_of_a_lagging_index_misses_a_task(
    now: datetime, ahead: timedelta, lane: Lane
) -> None:
    """The cursor moves on with each scan: a scan that missed a task is not repeated."""
    due_at = now + ahead
    last_unreliable_scan = next_scan_from(now + INDEX_LAG) - SCAN_INTERVAL
    is_sent = is_due_soon(due_at, now=now, lane=lane)
    assert is_sent or scan_horizon(last_unreliable_scan, lane) <= due_at


@property_settings
@given(now=moments, delay=st.sampled_from([30, 120]), jitter=st.floats(0, 0.1))
def test_a_usual_retry_is_rarely_sent_twice(now: datetime, delay: int, jitter: float) -> None:
    """The writer sends it, or a scan does. Both do only close to the end of a minute."""
    due_at = now + timedelta(seconds=delay * (1 + jitter))
    lane = Lane.SLOW_RETRY
    is_sent = is_due_soon(due_at, now=now, lane=lane)
    is_scanned = scan_horizon(next_scan_from(now) - SCAN_INTERVAL, lane) <= due_at
    assert not (is_sent and is_scanned) or now.second >= 30


@property_settings
@given(now=moments, extra=milliseconds)
def test_a_task_in_the_far_future_is_left_to_the_scanner(now: datetime, extra: timedelta) -> None:
    """The fast lane costs one request per message; the scanner sends ten in one."""
    assert not is_due_soon(now + LOOKAHEAD + INDEX_LAG + extra, now=now)


@property_settings
@given(now=moments, remaining=st.timedeltas(timedelta(days=-9), timedelta(days=9)))
def test_a_delay_is_within_the_limits_of_sqs(now: datetime, remaining: timedelta) -> None:
    assert 0 <= delay_seconds(now + remaining, now=now) <= 900


@property_settings
@given(now=moments, remaining=short_durations | milliseconds)
def test_a_delay_exceeds_the_due_time_by_the_tolerance_at_most(
    now: datetime, remaining: timedelta
) -> None:
    delay = timedelta(seconds=delay_seconds(now + remaining, now=now))
    assert delay <= remaining + LATE_TOLERANCE


@property_settings
@given(now=moments, remaining=short_durations)
def test_a_delay_ends_less_than_a_second_before_the_due_time(
    now: datetime, remaining: timedelta
) -> None:
    delay = timedelta(seconds=delay_seconds(now + remaining, now=now))
    assert remaining - delay < timedelta(seconds=1)


@property_settings
@given(now=moments, remaining=short_durations)
def test_a_message_sent_at_its_aligned_time_lets_the_worker_sleep_briefly(
    now: datetime, remaining: timedelta
) -> None:
    due_at = now + remaining
    send_at = aligned_send_time(due_at, now=now)
    visible_at = send_at + timedelta(seconds=delay_seconds(due_at, now=send_at))
    assert now <= send_at < now + timedelta(seconds=1)
    assert -LATE_TOLERANCE <= due_at - visible_at <= MAX_SLEEP
