"""The retry limit, whatever the order of failures: no minute gets too many, and none waits for
nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from duecourse.domain.lifecycle.retry_throttle import RetryLimit
from duecourse.domain.tasks.task import Task
from duecourse.usecases.failures.throttle_retry import RetryThrottle
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.builders.tasks import a_task

START = datetime(2026, 2, 17, tzinfo=UTC)
HOUR = timedelta(hours=1)
TASK = a_task()
delays = st.one_of(
    st.just(timedelta(seconds=30)),
    st.integers(0, 3_600_000).map(lambda ms: timedelta(milliseconds=ms)),
)
pauses = st.sampled_from([0, 0, 10, 1_000, 4_000, 60_000]).map(
    lambda ms: timedelta(milliseconds=ms)
)
failures = st.lists(st.tuples(pauses, delays), min_size=5, max_size=150)
limits = st.builds(
    RetryLimit, st.integers(1, 8), st.sampled_from([4, 30, 240]), st.sampled_from([1, 4])
)
property_settings = settings(deadline=None)


@dataclass
class OneShard:
    """A partition of the due index, and the queries that it got."""

    times: list[datetime] = field(default_factory=list)
    queries: int = 0

    def list_latest_due(self, partition: int, limit: int) -> Sequence[datetime]:
        del partition
        self.queries += 1
        return sorted(self.times, reverse=True)[:limit]

    def count_due(self, partition: int, *, start: datetime, end: datetime, limit: int) -> int:
        del partition
        self.queries += 1
        return min(limit, sum(start <= at < end for at in self.times))


def throttle_all(
    sequence: list[tuple[timedelta, timedelta]], limit: RetryLimit, *, task: Task = TASK
) -> tuple[OneShard, list[tuple[datetime, datetime]]]:
    """Return the shard, and the requested and the granted time of each retry."""
    shard, now, results = OneShard(), START, []
    throttle = RetryThrottle(cast("Any", shard), limit)
    for pause, delay in sequence:
        now += pause
        granted = throttle.find_time(task, now + delay, now=now)
        shard.times.append(granted)
        results.append((now + delay, granted))
    return shard, results


@property_settings
@given(failures, limits)
def test_no_interval_gets_more_retries_than_the_limit(
    sequence: list[tuple[timedelta, timedelta]], limit: RetryLimit
) -> None:
    """So no minute of a shard gets more than its share, and `pending` besides."""
    times = sorted(throttle_all(sequence, limit)[0].times)
    assert all(
        later - first >= limit.interval
        for first, later in zip(times, times[limit.pending :], strict=False)
    )


@property_settings
@given(failures, limits)
def test_no_retry_is_due_before_its_delay_ends(
    sequence: list[tuple[timedelta, timedelta]], limit: RetryLimit
) -> None:
    assert all(granted >= requested for requested, granted in throttle_all(sequence, limit)[1])


@property_settings
@given(failures, limits)
def test_a_retry_waits_only_where_others_are_due(
    sequence: list[tuple[timedelta, timedelta]], limit: RetryLimit
) -> None:
    """Within five seconds after one was throttled, others follow it without another look."""
    shard, now = OneShard(), START
    for pause, delay in sequence:
        now += pause
        throttle = RetryThrottle(cast("Any", shard), limit)  # another container
        due_at = now + delay
        others = sum(abs(due_at - at) < limit.interval for at in shard.times)
        granted = throttle.find_time(TASK, due_at, now=now)
        assert (granted == due_at) or others >= limit.pending
        shard.times.append(granted)


@property_settings
@given(st.integers(1, 150), limits)
def test_a_storm_is_over_as_soon_as_the_rate_allows(count: int, limit: RetryLimit) -> None:
    delay = timedelta(seconds=30)
    storm = [(timedelta(0), delay)] * count
    shard, _ = throttle_all(storm, limit)
    intervals = (count - 1) // limit.pending
    assert max(shard.times) == START + delay + intervals * limit.interval


def test_the_default_lets_100_000_failures_back_within_an_hour_with_one_query_each() -> None:
    """In one of four shards; the other three take their part at the same time."""
    limit = RetryLimit(pending=50, per_minute=2000, shard_count=4)
    intervals = (25_000 - 1) // limit.pending
    assert intervals * limit.interval < HOUR
    storm = [(timedelta(milliseconds=13), timedelta(seconds=30))] * 1_000
    shard, _ = throttle_all(storm, limit)
    assert shard.queries <= 1_000 + 1_000 // limit.pending
