"""The scheduler of the local stack: one activity at a time, and no caller waits for ever.

Sleeps are on the local clock and take no real time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest

from local.runtime.clock import LocalClock
from local.runtime.scheduler import Activity, Scheduler

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


class WatchedScheduler(Scheduler):
    """A scheduler whose requests are made by an activity, which waits until they are queued."""

    def __init__(self, clock: LocalClock) -> None:
        super().__init__(clock)
        self._queued = threading.Semaphore(0)
        self._callers: list[threading.Thread] = []

    def _add(self, activity: Activity[Any]) -> None:
        super()._add(activity)
        self._queued.release()

    def request(self, work: Callable[[], object]) -> None:
        self._callers.append(threading.Thread(target=self.call, args=[work], daemon=True))
        self._callers[-1].start()
        assert self._queued.acquire(timeout=TIMEOUT_SECONDS)

    def join_callers(self) -> None:
        for caller in self._callers:
            caller.join(TIMEOUT_SECONDS)
            assert not caller.is_alive()


class ListSource:
    """A source that starts all activities of a list."""

    def __init__(self, work: list[Callable[[], None]]) -> None:
        self.work = work

    def take_due(self, now: datetime) -> Sequence[Callable[[], None]]:
        del now
        due, self.work = self.work, []
        return due

    def next_at(self, now: datetime, until: datetime | None) -> datetime | None:
        del until
        return now if self.work else None


@pytest.fixture
def watched() -> Iterator[WatchedScheduler]:
    clock = LocalClock(is_manual=False)
    started = WatchedScheduler(clock)
    clock.start(started.sleep)
    yield started
    started.stop()
    clock.stop()


def test_requests_and_due_work_take_turns(watched: WatchedScheduler) -> None:
    order: list[str] = []

    def work() -> None:
        if not order:
            for _ in range(3):
                watched.request(lambda: order.append("request"))
        order.append("work")

    watched.start([ListSource([work] * 6)])
    watched.wait_until_idle(TIMEOUT_SECONDS)
    watched.join_callers()

    assert order == ["work", "request"] * 3 + ["work"] * 3


def test_requests_without_a_pause_do_not_stop_due_work(watched: WatchedScheduler) -> None:
    order: list[str] = []
    source = ListSource([])

    def request() -> None:
        order.append("request")
        if len(order) == 2:
            source.work.append(lambda: order.append("work"))
        if len(order) < 10:
            watched.request(request)

    watched.start([source])
    watched.request(request)
    watched.wait_until_idle(TIMEOUT_SECONDS)
    watched.join_callers()

    assert order == ["request", "request", "work"] + ["request"] * 7
