"""The scheduler of the local stack: one activity at a time, and no caller waits for ever.

Sleeps are on the local clock and take no real time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial

import pytest

from local.runtime.clock import LocalClock
from local.runtime.scheduler import Scheduler

TIMEOUT_SECONDS = 5


@pytest.fixture(params=["real", "manual"])
def scheduler(request: pytest.FixtureRequest) -> Iterator[Scheduler]:
    clock = LocalClock(is_manual=request.param == "manual")
    started = Scheduler(clock)
    clock.start(started.sleep)
    started.start([])
    yield started
    started.stop()
    clock.stop()


def sleep_in_background(scheduler: Scheduler, seconds: float) -> threading.Thread:
    caller = threading.Thread(target=scheduler.call, args=[lambda: time.sleep(seconds)])
    caller.start()
    scheduler.wait_until_idle()
    return caller


def test_sleepers_wake_in_order_of_their_time(scheduler: Scheduler) -> None:
    woken_after: list[int] = []

    def sleeper(seconds: int) -> None:
        time.sleep(seconds)
        woken_after.append(seconds)

    for seconds in (30, 10, 20):
        scheduler.spawn(partial(sleeper, seconds))
    scheduler.advance(timedelta(seconds=25))

    assert woken_after == [10, 20]


def test_a_reset_leaves_no_request_unanswered(scheduler: Scheduler) -> None:
    woken = threading.Event()

    def sleep_and_report() -> None:
        time.sleep(3600)
        woken.set()

    caller = sleep_in_background(scheduler, 3600)
    # On the manual clock a sleep of a request takes no time; that of a spawned activity does.
    scheduler.spawn(sleep_and_report)
    scheduler.wait_until_idle()
    assert not woken.is_set()

    scheduler.call(lambda: scheduler.replace_sources([]))

    caller.join(TIMEOUT_SECONDS)
    assert not caller.is_alive()
    assert woken.wait(TIMEOUT_SECONDS)


def test_an_exception_of_an_activity_reaches_its_caller(scheduler: Scheduler) -> None:
    def fail() -> None:
        raise LookupError("here")

    with pytest.raises(LookupError, match="here"):
        scheduler.call(fail)


class AlwaysDueSource:
    """A source that always reports due work and never has any."""

    def take_due(self, now: datetime) -> Sequence[Callable[[], None]]:
        del now
        return ()

    def next_at(self, now: datetime, until: datetime | None) -> datetime | None:
        del until
        return now


def test_stop_ends_a_long_advance() -> None:
    clock = LocalClock(is_manual=True)
    scheduler = Scheduler(clock)
    clock.start(scheduler.sleep)
    scheduler.start([AlwaysDueSource()])
    mover = threading.Thread(target=scheduler.advance, args=[timedelta(days=365)], daemon=True)
    stopper = threading.Thread(target=scheduler.stop, daemon=True)
    for thread in (mover, stopper):
        thread.start()
    for thread in (mover, stopper):
        thread.join(TIMEOUT_SECONDS)
    clock.stop()

    assert not mover.is_alive()
    assert not stopper.is_alive()
