"""The send rate of one process, and how many lanes it remembers."""

from __future__ import annotations

from datetime import timedelta

import pytest
from duecourse.adapters.channels.errors import LocalRateLimitError
from duecourse.adapters.channels.rate_limiter import MAX_KEYS, RateLimiter
from duecourse.domain.failures.failure import Failure

from tests.support.builders.moments import NOW
from tests.support.fakes.clock import ManualClock

SECOND = timedelta(seconds=1)
LATER = NOW + timedelta(days=1)


def test_a_lane_waits_between_two_sends_and_others_do_not() -> None:
    clock = ManualClock(NOW)
    limiter = RateLimiter(clock, min_interval=SECOND)
    limiter.acquire("a", deadline=LATER)
    limiter.acquire("b", deadline=LATER)
    assert clock.now() == NOW
    limiter.acquire("a", deadline=LATER)
    assert clock.now() == NOW + SECOND


def test_an_idle_lane_does_not_accumulate_sends() -> None:
    clock = ManualClock(NOW)
    limiter = RateLimiter(clock, min_interval=SECOND)
    limiter.acquire("a", deadline=LATER)
    clock.at = NOW + 10 * SECOND
    limiter.acquire("a", deadline=LATER)
    assert clock.now() == NOW + 10 * SECOND


@pytest.mark.parametrize(("seconds", "is_too_soon"), [(2, False), (2.001, True)])
def test_a_send_that_would_wait_too_long_raises(seconds: float, is_too_soon: bool) -> None:
    clock = ManualClock(NOW)
    limiter = RateLimiter(clock)
    limiter.block("a", until=NOW + seconds * SECOND)
    if not is_too_soon:
        limiter.acquire("a", deadline=NOW + 2 * SECOND)
        return
    with pytest.raises(LocalRateLimitError) as caught:
        limiter.acquire("a", deadline=NOW + 2 * SECOND)
    failure = Failure.from_exception(caught.value)
    assert (failure.code, failure.status) == ("not_attempted", 429)
    assert failure.retry_after == seconds * SECOND
    assert clock.now() == NOW


def test_a_shorter_pause_does_not_end_a_longer_one() -> None:
    clock = ManualClock(NOW)
    limiter = RateLimiter(clock)
    for seconds in (5, 1):
        limiter.block("a", until=NOW + seconds * SECOND)
        limiter.block_all(until=NOW + seconds * SECOND / 2)
    limiter.acquire("b", deadline=LATER)
    assert clock.now() == NOW + 2.5 * SECOND
    limiter.acquire("a", deadline=LATER)
    assert clock.now() == NOW + 5 * SECOND


def test_the_number_of_remembered_lanes_is_bounded() -> None:
    clock = ManualClock(NOW)
    limiter = RateLimiter(clock, min_interval=SECOND)
    limiter.block("flooded", until=LATER)
    for lane in range(20 * MAX_KEYS):
        limiter.acquire(str(lane), deadline=LATER)
    assert len(limiter._next_slots) <= MAX_KEYS + 1
    with pytest.raises(LocalRateLimitError):
        limiter.acquire("flooded", deadline=NOW + SECOND)
