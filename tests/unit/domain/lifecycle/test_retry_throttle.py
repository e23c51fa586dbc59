"""Which attempt comes next, and where in the due index a retry is counted."""

from __future__ import annotations

from datetime import timedelta

import pytest
from duecourse.domain.dispatch.lanes import Lane, partition_of
from duecourse.domain.lifecycle.retry_throttle import (
    RetryLimit,
    can_throttle,
    next_attempt,
    throttled_until,
)
from duecourse.domain.tasks.ids import shard_of
from duecourse.domain.tasks.task import Task

from tests.support.builders.moments import HOUR, MILLISECOND, MINUTE, NOW
from tests.support.builders.runs import a_run
from tests.support.builders.tasks import a_task, an_action

LIMIT = RetryLimit(pending=50, per_minute=2000, shard_count=4)


# The next attempt


def test_the_next_attempt_follows_the_last_run() -> None:
    assert next_attempt(a_task(run=a_run(attempt=3))) == 4


def test_the_next_attempt_follows_the_retry_count_if_there_is_no_run() -> None:
    assert next_attempt(a_task(retry_count=2)) == 3


# The throttle


def test_a_shard_starts_its_share_of_the_retries_of_a_minute() -> None:
    assert LIMIT.interval == timedelta(seconds=6)
    assert timedelta(minutes=1) / LIMIT.interval * LIMIT.pending * 4 == 2000


@pytest.mark.parametrize(
    ("task", "lane"), [(a_task(), Lane.REMINDER_RETRY), (an_action(), Lane.SLOW_RETRY)]
)
def test_a_retry_is_counted_in_its_own_shard_and_lane(task: Task, lane: Lane) -> None:
    assert LIMIT.partition_of(task) == partition_of(lane, shard_of(task.id, 4), 4)


def test_with_few_others_a_retry_keeps_its_time() -> None:
    latest = [NOW + HOUR] * (LIMIT.pending - 1)
    assert throttled_until(latest, limit=LIMIT, due_at=NOW + MINUTE) == NOW + MINUTE


def test_a_throttled_retry_is_due_an_interval_after_the_earliest_of_the_latest() -> None:
    latest = [NOW + HOUR - n * MINUTE for n in range(LIMIT.pending)]
    throttled = throttled_until(latest, limit=LIMIT, due_at=NOW + MINUTE)
    assert throttled == NOW + HOUR - (LIMIT.pending - 1) * MINUTE + LIMIT.interval


@pytest.mark.parametrize(("wait", "is_throttled"), [(HOUR, True), (HOUR + MILLISECOND, False)])
def test_only_a_delay_of_at_most_an_hour_is_throttled(wait: timedelta, is_throttled: bool) -> None:
    assert can_throttle(NOW + wait, now=NOW) is is_throttled
