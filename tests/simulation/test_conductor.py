"""The conductor: one activity at a time, and nobody is left waiting for ever.

Whoever sleeps here sleeps on the local clock: no time passes.
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

PATIENCE = 5


@pytest.fixture(params=["real", "manual"])
def conductor(request: pytest.FixtureRequest) -> Iterator[Scheduler]:
    clock = LocalClock(is_manual=request.param == "manual")
    running = Scheduler(clock)
    clock.start(running.sleep)
    running.start([])
    yield running
    running.stop()
    clock.stop()


def in_background(conductor: Scheduler, seconds: float) -> threading.Thread:
    caller = threading.Thread(target=conductor.call, args=[lambda: time.sleep(seconds)])
    caller.start()
    conductor.wait_until_idle()
    return caller


def test_sleepers_wake_in_order_each_at_its_own_time(conductor: Scheduler) -> None:
    woken: list[int] = []

    def sleeper(seconds: int) -> None:
        time.sleep(seconds)
        woken.append(seconds)

    for seconds in (30, 10, 20):
        conductor.spawn(partial(sleeper, seconds))
    conductor.advance(timedelta(seconds=25))

    assert woken == [10, 20]


def test_a_reset_leaves_no_request_unanswered(conductor: Scheduler) -> None:
    caller = in_background(conductor, 3600)

    conductor.call(lambda: conductor.replace_sources([]))

    caller.join(PATIENCE)
    assert not caller.is_alive()


def test_what_an_activity_raises_reaches_its_caller(conductor: Scheduler) -> None:
    def fail() -> None:
        raise LookupError("here")

    with pytest.raises(LookupError, match="here"):
        conductor.call(fail)


class Restless:
    """Something is always due, and never there."""

    def take_due(self, now: datetime) -> Sequence[Callable[[], None]]:
        del now
        return ()

    def next_at(self, now: datetime) -> datetime | None:
        return now


def test_it_can_be_stopped_while_the_clock_is_on_a_long_way() -> None:
    clock = LocalClock(is_manual=True)
    conductor = Scheduler(clock)
    clock.start(conductor.sleep)
    conductor.start([Restless()])
    mover = threading.Thread(target=conductor.advance, args=[timedelta(days=365)], daemon=True)
    stopper = threading.Thread(target=conductor.stop, daemon=True)
    for thread in (mover, stopper):
        thread.start()
    for thread in (mover, stopper):
        thread.join(PATIENCE)
    clock.stop()

    assert not mover.is_alive()
    assert not stopper.is_alive()
