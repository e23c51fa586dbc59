"""A scheduler without threads: its activities are greenlets, which run in the same order each time.

Every activity sleeps on the simulated clock wherever it waits for a call, so other activities run
in between. What wakes first runs first.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import count
from typing import TypeVar

from greenlet import getcurrent, greenlet

from local.runtime.clock import LocalClock
from local.runtime.scheduler import MIN_STEP, Scheduler, Source
from local.testing.faults import SimulatedCrash

T = TypeVar("T")


class EventLoop(Scheduler):
    """`count_changes` returns a number that grows with every change that a source can see."""

    def __init__(self, clock: LocalClock, count_changes: Callable[[], int]) -> None:
        super().__init__(clock)
        self._count_changes = count_changes
        self._loop_greenlet = getcurrent()
        self._waiting: deque[greenlet] = deque()
        self._asleep: list[tuple[datetime, int, greenlet]] = []
        self._numbers = count()
        self._ended_count = 0
        self._polled: tuple[int, int, datetime | None] | None = None
        self._sources_at: datetime | None = None

    def start(self, sources: Sequence[Source]) -> None:
        self._sources = sources

    def stop(self) -> None:
        """End every activity that still sleeps, as if its container were killed."""
        self._is_stopping = True
        while self._asleep:
            self._asleep.pop()[2].switch()

    def call(self, work: Callable[[], T]) -> T:
        """Run `work` inside the current activity, or run everything until it has ended."""
        if self._is_in_activity():
            return work()
        results: list[T] = []
        errors: list[BaseException] = []

        def run() -> None:
            try:
                results.append(work())
            except BaseException as error:  # noqa: BLE001 - raised by the caller
                errors.append(error)

        self.spawn(run)
        while not results and not errors:
            self._step(None)
        if errors:
            raise errors[0]
        return results[0]

    def spawn(self, work: Callable[[], object]) -> None:
        self._waiting.append(greenlet(partial(self._run, work), self._loop_greenlet))

    def wait_until_idle(self, timeout: float | None = None) -> None:
        """Return at once: what a call triggers happens later, at its own time."""

    def advance(self, by: timedelta) -> datetime:
        self._target = self._clock.now() + by
        while self._step(self._target):
            pass
        self._target = None
        return self._clock.now()

    def sleep(self, seconds: float) -> bool:
        if not self._is_in_activity():
            return False
        if self._is_stopping:
            raise SimulatedCrash
        wake_at = self._clock.now() + timedelta(seconds=seconds)
        heapq.heappush(self._asleep, (wake_at, next(self._numbers), getcurrent()))
        self._loop_greenlet.switch()
        if self._is_stopping:
            raise SimulatedCrash
        return True

    def _is_in_activity(self) -> bool:
        return getcurrent() is not self._loop_greenlet

    def _run(self, work: Callable[[], object]) -> None:
        try:
            work()
        except SimulatedCrash:
            if not self._is_stopping:
                raise
        self._ended_count += 1

    def _step(self, until: datetime | None) -> bool:
        """Run one activity, or move the clock to the next event; return False at `until`."""
        now = self._clock.now()
        while self._asleep and self._asleep[0][0] <= now:
            self._waiting.append(heapq.heappop(self._asleep)[2])
        if not self._waiting:
            self._poll(now)
        if self._waiting:
            self._waiting.popleft().switch()
            return True
        upcoming = _earlier(self._asleep[0][0] if self._asleep else None, self._sources_at)
        if until is not None and (upcoming is None or upcoming > until):
            self._clock.freeze_at(max(until, now))
            return False
        if upcoming is None:
            raise RuntimeError("an activity waits for something that never happens")
        self._clock.freeze_at(max(upcoming, now + MIN_STEP))
        return True

    def _poll(self, now: datetime) -> None:
        """Start what is due, or find out when something will be. Not if nothing has changed."""
        state = (self._count_changes(), self._ended_count, self._target)
        if state == self._polled and (self._sources_at is None or now < self._sources_at):
            return
        for source in self._sources:
            for work in source.take_due(now):
                self.spawn(work)
        if self._waiting:
            return
        self._sources_at = None
        for source in self._sources:
            self._sources_at = _earlier(self._sources_at, source.next_at(now, None))
        self._polled = state


def _earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    if one is None or other is None:
        return one or other
    return min(one, other)
