"""Retries that wait: which lane they are in, and how a storm of them is held."""

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


def retrying(wait: timedelta, *, asked: timedelta | None = None, **fields: Any) -> Task:
    diagnosis = RunDiagnosis(delay=asked) if asked is not None else None
    run = a_run(ended_at=NOW, status=RunStatus.PAUSED_TRANSIENT, diagnosis=diagnosis)
    return a_task(**{"run": run, "due_at": NOW + wait, "next_retry_at": NOW + wait, **fields})


def after_storm(delays: list[timedelta], limit: int) -> list[datetime]:
    """All fail now, one after the other, and each sees those before it."""
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
def test_a_wait_of_at_most_an_hour_is_in_the_lane_soon(wait: timedelta, lane: RetryLane) -> None:
    assert retry_lane(retrying(wait)) is lane


def test_a_held_retry_stays_in_its_lane_however_long_it_is_held() -> None:
    assert retry_lane(retrying(5 * HOUR, asked=2 * MINUTE)) is RetryLane.SOON


def test_jitter_that_takes_it_beyond_the_hour_is_no_hold() -> None:
    assert retry_lane(retrying(63 * MINUTE, asked=HOUR)) is RetryLane.LONG


def test_a_retry_whose_run_is_not_known_is_in_the_lane_soon() -> None:
    assert retry_lane(retrying(DAY, run=None)) is RetryLane.SOON


def test_what_waits_for_a_budget_is_no_part_of_a_storm() -> None:
    run = a_run(ended_at=NOW, status=RunStatus.PAUSED_BUDGET)
    assert retry_lane(retrying(MINUTE, run=run)) is RetryLane.LONG


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
def test_what_waits_for_no_retry_is_in_no_lane(fields: dict[str, Any]) -> None:
    assert retry_lane(retrying(MINUTE, **fields)) is None


def test_the_attempt_to_come_follows_the_last_run() -> None:
    assert next_attempt(retrying(MINUTE, run=a_run(attempt=3))) == 4


def test_without_a_run_the_attempt_to_come_is_told_by_the_count() -> None:
    assert next_attempt(a_task(retry_count=2)) == 3


# The storm rule


def test_below_the_limit_nothing_changes() -> None:
    latest = [NOW + HOUR] * (LIMIT - 1)
    assert throttled_until(latest, limit=LIMIT, due_at=NOW + MINUTE, now=NOW) == NOW + MINUTE


def test_at_the_limit_a_retry_comes_a_minute_after_the_first_of_the_latest() -> None:
    latest = [NOW + HOUR - n * MINUTE for n in range(LIMIT)]
    held = throttled_until(latest, limit=LIMIT, due_at=NOW + MINUTE, now=NOW)
    assert held == NOW + HOUR - (LIMIT - 1) * MINUTE + RELEASE_INTERVAL


@pytest.mark.parametrize(("wait", "is_held"), [(HOUR, True), (HOUR + MILLISECOND, False)])
def test_only_a_wait_of_at_most_an_hour_is_held(wait: timedelta, is_held: bool) -> None:
    latest = [NOW + DAY] * LIMIT
    held = throttled_until(latest, limit=LIMIT, due_at=NOW + wait, now=NOW)
    assert (held > NOW + wait) is is_held


def test_a_thousand_simultaneous_failures_come_back_in_waves_of_fifty_a_minute() -> None:
    waves = Counter(after_storm([2 * MINUTE] * 1000, LIMIT))
    assert waves == {NOW + (2 + n) * MINUTE: 50 for n in range(20)}


@given(st.lists(waits, max_size=60), st.integers(1, 10))
def test_no_minute_has_more_than_the_limit(delays: list[timedelta], limit: int) -> None:
    times = sorted(after_storm(delays, limit))
    assert all(
        later - first >= RELEASE_INTERVAL
        for first, later in zip(times, times[limit:], strict=False)
    )


@given(st.lists(waits, max_size=60), st.integers(1, 10))
def test_no_retry_comes_earlier_than_it_asked(delays: list[timedelta], limit: int) -> None:
    times = after_storm(delays, limit)
    assert all(time >= NOW + delay for time, delay in zip(times, delays, strict=True))


@given(st.lists(waits, max_size=10))
def test_up_to_the_limit_every_retry_comes_when_it_asked(delays: list[timedelta]) -> None:
    assert after_storm(delays, 10) == [NOW + delay for delay in delays]
