"""How fast one process speaks, and how much it remembers."""

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


def test_a_lane_rests_between_two_turns_and_others_do_not() -> None:
    clock = ManualClock(NOW)
    pace = RateLimiter(clock, min_interval=SECOND)
    pace.acquire("a", deadline=LATER)
    pace.acquire("b", deadline=LATER)
    assert clock.now() == NOW
    pace.acquire("a", deadline=LATER)
    assert clock.now() == NOW + SECOND


def test_a_rest_that_is_over_is_not_made_up_for() -> None:
    clock = ManualClock(NOW)
    pace = RateLimiter(clock, min_interval=SECOND)
    pace.acquire("a", deadline=LATER)
    clock.at = NOW + 10 * SECOND
    pace.acquire("a", deadline=LATER)
    assert clock.now() == NOW + 10 * SECOND


@pytest.mark.parametrize(("seconds", "is_too_soon"), [(2, False), (2.001, True)])
def test_a_turn_that_comes_too_late_is_not_taken(seconds: float, is_too_soon: bool) -> None:
    clock = ManualClock(NOW)
    pace = RateLimiter(clock)
    pace.block("a", until=NOW + seconds * SECOND)
    if not is_too_soon:
        pace.acquire("a", deadline=NOW + 2 * SECOND)
        return
    with pytest.raises(LocalRateLimitError) as caught:
        pace.acquire("a", deadline=NOW + 2 * SECOND)
    failure = Failure.from_exception(caught.value)
    assert (failure.code, failure.status) == ("not_attempted", 429)
    assert failure.retry_after == seconds * SECOND
    assert clock.now() == NOW


def test_a_shorter_hold_does_not_end_a_longer_one() -> None:
    clock = ManualClock(NOW)
    pace = RateLimiter(clock)
    for seconds in (5, 1):
        pace.block("a", until=NOW + seconds * SECOND)
        pace.block_all(until=NOW + seconds * SECOND / 2)
    pace.acquire("b", deadline=LATER)
    assert clock.now() == NOW + 2.5 * SECOND
    pace.acquire("a", deadline=LATER)
    assert clock.now() == NOW + 5 * SECOND


def test_very_many_lanes_are_not_remembered_for_ever() -> None:
    clock = ManualClock(NOW)
    pace = RateLimiter(clock, min_interval=SECOND)
    pace.block("flooded", until=LATER)
    for lane in range(20 * MAX_KEYS):
        pace.acquire(str(lane), deadline=LATER)
    assert len(pace._next_slots) <= MAX_KEYS + 1
    with pytest.raises(LocalRateLimitError):
        pace.acquire("flooded", deadline=NOW + SECOND)
