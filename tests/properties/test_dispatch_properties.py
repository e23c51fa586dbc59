"""No task falls between the fast lane and the scanner's looks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count

from duecourse.domain.dispatch.timing import (
    INDEX_LAG,
    LOOKAHEAD,
    SCAN_INTERVAL,
    delay_seconds,
    is_due_soon,
    scan_horizon,
)
from hypothesis import given, settings
from hypothesis import strategies as st

ENOUGH = timedelta(seconds=5)  # for a look to begin late and still send its messages
START = datetime(2026, 2, 17, tzinfo=UTC)
milliseconds = st.integers(0, 86_400_000).map(lambda ms: timedelta(milliseconds=ms))
moments = milliseconds.map(lambda passed: START + passed)
shortly = st.integers(0, 900_000).map(lambda ms: timedelta(milliseconds=ms))
soon = st.integers(-300_000, 600_000).map(lambda ms: timedelta(milliseconds=ms))
calm = settings(deadline=None)


def looks_from(now: datetime) -> datetime:
    """The first whole minute at or after the moment."""
    floor = now.replace(second=0, microsecond=0)
    return floor if floor == now else floor + SCAN_INTERVAL


def first_sight(due_at: datetime, *, since: datetime) -> datetime:
    looks = (looks_from(since) + SCAN_INTERVAL * n for n in count())
    return next(look for look in looks if scan_horizon(look) > due_at)


@calm
@given(now=moments, ahead=soon | milliseconds)
def test_a_task_takes_the_fast_lane_or_is_seen_in_good_time(
    now: datetime, ahead: timedelta
) -> None:
    due_at = now + ahead
    seen_at = first_sight(due_at, since=now + INDEX_LAG)
    assert is_due_soon(due_at, now=now) or due_at - seen_at >= ENOUGH


@calm
@given(now=moments, ahead=soon | milliseconds)
def test_no_look_that_the_index_may_deceive_passes_a_task_by(
    now: datetime, ahead: timedelta
) -> None:
    """The cursor moves on with each look: one that should have seen the task never comes again."""
    due_at = now + ahead
    deceived = looks_from(now + INDEX_LAG) - SCAN_INTERVAL
    assert is_due_soon(due_at, now=now) or scan_horizon(deceived) <= due_at


@calm
@given(now=moments, more=milliseconds)
def test_a_task_far_off_is_left_to_the_scanner(now: datetime, more: timedelta) -> None:
    """The fast lane costs a message of its own, which the scanner sends ten to a request."""
    assert not is_due_soon(now + LOOKAHEAD + INDEX_LAG + more, now=now)


@calm
@given(now=moments, left=st.timedeltas(timedelta(days=-9), timedelta(days=9)))
def test_a_delay_is_one_that_sqs_takes(now: datetime, left: timedelta) -> None:
    assert 0 <= delay_seconds(now + left, now=now) <= 900


@calm
@given(now=moments, left=shortly | milliseconds)
def test_a_delay_never_goes_beyond_the_due_time(now: datetime, left: timedelta) -> None:
    assert now + timedelta(seconds=delay_seconds(now + left, now=now)) <= now + left


@calm
@given(now=moments, left=shortly)
def test_a_delay_leaves_less_than_a_second_to_sleep_off(now: datetime, left: timedelta) -> None:
    delay = timedelta(seconds=delay_seconds(now + left, now=now))
    assert left - delay < timedelta(seconds=1)
