"""The lanes of pending retries, and how a retry storm is throttled."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

import pytest
from duecourse.domain.lifecycle.retry_throttle import (
    RELEASE_INTERVAL,
    RetryLane,
    next_attempt,
    retry_lane,
    throttled_until,
)
from duecourse.domain.tasks.run import RunStatus
from duecourse.domain.tasks.run_diagnosis import RunDiagnosis
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders.moments import DAY, HOUR, MILLISECOND, MINUTE, NOW
from tests.support.builders.runs import a_run
from tests.support.builders.tasks import a_task

LIMIT = 50
waits = st.integers(0, 3_600_000).map(lambda ms: timedelta(milliseconds=ms))


def a_pending_retry(wait: timedelta, *, delay: timedelta | None = None, **fields: Any) -> Task:
    diagnosis = RunDiagnosis(delay=delay) if delay is not None else None
    run = a_run(ended_at=NOW, status=RunStatus.PAUSED_TRANSIENT, diagnosis=diagnosis)
    return a_task(**{"run": run, "due_at": NOW + wait, "next_retry_at": NOW + wait, **fields})


def throttle_all(delays: list[timedelta], limit: int) -> list[datetime]:
    """Throttle failures that happen at NOW one after the other, and return their due times."""
    pending: list[datetime] = []
    for delay in delays:
        latest = sorted(pending, reverse=True)[:limit]
        pending.append(throttled_until(latest, limit=limit, due_at=NOW + delay, now=NOW))
    return pending


# Lanes


@pytest.mark.parametrize(
    ("wait", "lane"),
    [
        (2 * MINUTE, RetryLane.SOON),
        (HOUR, RetryLane.SOON),
        (HOUR + MILLISECOND, RetryLane.LONG),
        (DAY, RetryLane.LONG),
    ],
)
def test_a_delay_of_at_most_an_hour_is_in_the_soon_lane(wait: timedelta, lane: RetryLane) -> None:
    assert retry_lane(a_pending_retry(wait)) is lane


def test_a_throttled_retry_stays_in_its_lane() -> None:
    assert retry_lane(a_pending_retry(5 * HOUR, delay=2 * MINUTE)) is RetryLane.SOON


def test_jitter_beyond_an_hour_is_not_taken_for_throttling() -> None:
    assert retry_lane(a_pending_retry(63 * MINUTE, delay=HOUR)) is RetryLane.LONG


def test_a_retry_without_a_run_is_in_the_soon_lane() -> None:
    assert retry_lane(a_pending_retry(DAY, run=None)) is RetryLane.SOON


def test_a_task_waiting_for_its_budget_is_in_the_long_lane() -> None:
    run = a_run(ended_at=NOW, status=RunStatus.PAUSED_BUDGET)
    assert retry_lane(a_pending_retry(MINUTE, run=run)) is RetryLane.LONG


@pytest.mark.parametrize(
    "fields",
    [
        {"next_retry_at": None},
        {"paused": True},
        {"status": Status.IN_PROGRESS},
        {"status": Status.BLOCKED},
        {"status": Status.FAILED},
    ],
)
def test_a_task_without_a_pending_retry_has_no_lane(fields: dict[str, Any]) -> None:
    assert retry_lane(a_pending_retry(MINUTE, **fields)) is None


def test_the_next_attempt_follows_the_last_run() -> None:
    assert next_attempt(a_pending_retry(MINUTE, run=a_run(attempt=3))) == 4


def test_the_next_attempt_follows_the_retry_count_if_there_is_no_run() -> None:
    assert next_attempt(a_task(retry_count=2)) == 3


# The throttle


def test_a_retry_below_the_limit_is_not_throttled() -> None:
    latest = [NOW + HOUR] * (LIMIT - 1)
    assert throttled_until(latest, limit=LIMIT, due_at=NOW + MINUTE, now=NOW) == NOW + MINUTE


def test_a_retry_at_the_limit_is_due_a_minute_after_the_earliest_of_the_latest() -> None:
    latest = [NOW + HOUR - n * MINUTE for n in range(LIMIT)]
    throttled = throttled_until(latest, limit=LIMIT, due_at=NOW + MINUTE, now=NOW)
    assert throttled == NOW + HOUR - (LIMIT - 1) * MINUTE + RELEASE_INTERVAL


@pytest.mark.parametrize(("wait", "is_throttled"), [(HOUR, True), (HOUR + MILLISECOND, False)])
def test_only_a_delay_of_at_most_an_hour_is_throttled(wait: timedelta, is_throttled: bool) -> None:
    latest = [NOW + DAY] * LIMIT
    throttled = throttled_until(latest, limit=LIMIT, due_at=NOW + wait, now=NOW)
    assert (throttled > NOW + wait) is is_throttled


def test_a_thousand_simultaneous_failures_are_retried_fifty_a_minute() -> None:
    waves = Counter(throttle_all([2 * MINUTE] * 1000, LIMIT))
    assert waves == {NOW + (2 + n) * MINUTE: 50 for n in range(20)}


@given(st.lists(waits, max_size=60), st.integers(1, 10))
def test_no_minute_has_more_retries_than_the_limit(delays: list[timedelta], limit: int) -> None:
    times = sorted(throttle_all(delays, limit))
    assert all(
        later - first >= RELEASE_INTERVAL
        for first, later in zip(times, times[limit:], strict=False)
    )


@given(st.lists(waits, max_size=60), st.integers(1, 10))
def test_no_retry_is_due_before_its_delay_ends(delays: list[timedelta], limit: int) -> None:
    times = throttle_all(delays, limit)
    assert all(time >= NOW + delay for time, delay in zip(times, delays, strict=True))


@given(st.lists(waits, max_size=10))
def test_retries_up_to_the_limit_keep_their_due_time(delays: list[timedelta]) -> None:
    assert throttle_all(delays, 10) == [NOW + delay for delay in delays]
