"""Run all activities of the local stack one at a time, in the order of their due times.

Each activity (an invocation, a request) has a thread, but only one thread runs at a time. It
returns its turn when it ends or sleeps. Time moves only when no activity can run, so advancing the
clock replays everything that becomes due, in order, each at its own time. On a real clock, requests
and the work of the sources take turns, so that neither can stop the other.
"""

from __future__ import annotations

import heapq
import threading
from collections import deque
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from itertools import count
from operator import itemgetter
from typing import Any, Generic, Protocol, TypeVar

from local.runtime.clock import LocalClock

T = TypeVar("T")
_thread_state = threading.local()
MIN_STEP = timedelta(milliseconds=1)


def current_activity() -> Activity[Any] | None:
    """Return the activity that runs in this thread, or None."""
    return getattr(_thread_state, "activity", None)


class Source(Protocol):
    """Something that starts activities: a schedule, a queue, a stream."""

    def take_due(self, now: datetime) -> Sequence[Callable[[], None]]:
        """Return the activities to start now. The caller starts all of them."""

    def next_at(self, now: datetime, until: datetime | None) -> datetime | None:
        """Return when the source will next start something, or None.

        With `until`, what starts later does not matter.
        """


class Activity(Generic[T]):
    def __init__(
        self, work: Callable[[], T], scheduler: Scheduler, *, is_awaited: bool = False
    ) -> None:
        self.is_awaited = is_awaited
        self._work = work
        self._scheduler = scheduler
        self._turn = threading.Semaphore(0)
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._result: T
        self._error: BaseException | None = None

    def resume(self) -> None:
        """Let the activity run until it returns its turn to the scheduler."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, daemon=True)
            self._thread.start()
        self._turn.release()

    def wait_for_turn(self) -> None:
        self._turn.acquire()

    @property
    def has_ended(self) -> bool:
        return self._ended.is_set()

    def result(self) -> T:
        self._ended.wait()
        if self._error is not None:
            raise self._error
        return self._result

    def _run(self) -> None:
        self.wait_for_turn()
        _thread_state.activity = self
        try:
            self._result = self._work()
        except BaseException as error:  # noqa: BLE001 - handed to whoever asks for the result
            self._error = error
        finally:
            self._ended.set()
            self._scheduler.return_turn()


class Scheduler:
    def __init__(self, clock: LocalClock) -> None:
        self._clock = clock
        self._sources: Sequence[Source] = ()
        self._ready: deque[Activity[Any]] = deque()
        self._requests: deque[Activity[Any]] = deque()
        self._ran_request = False
        self._sleeping: list[tuple[datetime, int, Activity[Any]]] = []
        self._order = count()
        self._target: datetime | None = None
        self._is_idle = False
        self._is_stopping = False
        self._condition = threading.Condition()
        self._turn_returned = threading.Semaphore(0)
        self._thread = threading.Thread(target=self._loop, daemon=True)

    def start(self, sources: Sequence[Source]) -> None:
        self._sources = sources
        self._thread.start()

    def replace_sources(self, sources: Sequence[Source]) -> None:
        """Replace the sources. For an activity that rebuilds the system.

        Sleeping activities of the old system wake up and end.
        """
        self._sources = sources
        for _, _, activity in sorted(self._sleeping, key=itemgetter(0, 1)):
            self._enqueue(activity)
        self._sleeping.clear()

    def stop(self) -> None:
        self._is_stopping = True  # without the lock: an advancing loop holds it until it sees this
        with self._condition:
            self._condition.notify_all()
        self._thread.join(timeout=5)

    def call(self, work: Callable[[], T]) -> T:
        """Run `work` as an activity and return its result, or raise its error."""
        activity = Activity(work, self, is_awaited=True)
        with self._condition:
            self._add(activity)
        return activity.result()

    def spawn(self, work: Callable[[], object]) -> None:
        """Run `work` as an activity without waiting for it."""
        with self._condition:
            self._add(Activity(work, self))

    def wait_until_idle(self, timeout: float | None = None) -> None:
        """Wait until nothing more can run at the current time.

        Returns at once while time advances.
        """
        with self._condition:
            self._condition.wait_for(
                lambda: self._is_idle or self._target is not None or self._is_stopping, timeout
            )

    def advance(self, by: timedelta) -> datetime:
        """Advance the clock, running everything that becomes due at its own time."""
        with self._condition:
            self._condition.wait_for(lambda: self._target is None)
            self._target = self._clock.now() + by
            self._is_idle = False
            self._condition.notify_all()
            self._condition.wait_for(lambda: self._target is None or self._is_stopping)
        return self._clock.now()

    @property
    def is_advancing(self) -> bool:
        return self._target is not None

    # --- called by activities --------------------------------------------------------------------

    def sleep(self, seconds: float) -> bool:
        """Sleep on the local clock. Return False if the thread is not an activity."""
        activity = current_activity()
        if activity is None:
            return False
        with self._condition:
            if activity.is_awaited and self._clock.is_manual:
                # The caller may be the one who advances the clock. So a backoff inside a request
                # takes no time, otherwise the request might never finish.
                return True
            self._put_to_sleep(activity, seconds)
        self.return_turn()
        activity.wait_for_turn()
        return True

    def _put_to_sleep(self, activity: Activity[Any], seconds: float) -> None:
        wake_at = self._clock.now() + timedelta(seconds=seconds)
        heapq.heappush(self._sleeping, (wake_at, next(self._order), activity))

    def return_turn(self) -> None:
        self._turn_returned.release()

    # --- the loop -----------------------------------------------------------------------------

    def _loop(self) -> None:
        while (activity := self._next_activity()) is not None:
            activity.resume()
            self._turn_returned.acquire()

    def _next_activity(self) -> Activity[Any] | None:
        with self._condition:
            while not self._is_stopping:
                if self._wake_or_start():
                    return self._choose()
                self._wait_or_advance()
        return None

    def _choose(self) -> Activity[Any]:
        """Return a request, or every other time an activity of a source if there is one."""
        self._ran_request = bool(self._requests) and not (self._ran_request and self._ready)
        return (self._requests if self._ran_request else self._ready).popleft()

    def _wake_or_start(self) -> bool:
        if self._ready and self._clock.is_manual:
            return True
        now = self._clock.now()
        while self._sleeping and self._sleeping[0][0] <= now:
            self._enqueue(heapq.heappop(self._sleeping)[2])
        if not self._ready:
            for source in self._sources:
                self._ready.extend(Activity(work, self) for work in source.take_due(now))
        return bool(self._ready or self._requests)

    def _enqueue(self, activity: Activity[Any]) -> None:
        is_request = activity.is_awaited and not self._clock.is_manual
        (self._requests if is_request else self._ready).append(activity)

    def _wait_or_advance(self) -> None:
        upcoming = self._next_event_at()
        if self._target is None:
            self._notify_idle()
            self._condition.wait(self._seconds_until(upcoming))
        elif upcoming is not None and upcoming <= self._target:
            # Nothing could start at the current time, so time has to move.
            self._clock.freeze_at(max(upcoming, self._clock.now() + MIN_STEP))
        else:
            self._clock.freeze_at(max(self._target, self._clock.now()))
            if not self._wake_or_start():
                self._finish_advance()

    def _finish_advance(self) -> None:
        self._clock.resume()
        self._target = None
        self._notify_idle()

    def _next_event_at(self) -> datetime | None:
        now = self._clock.now()
        soonest = self._sleeping[0][0] if self._sleeping else None
        for source in self._sources:
            soonest = _earlier(soonest, source.next_at(now, _earlier(soonest, self._target)))
        return soonest

    def _seconds_until(self, moment: datetime | None) -> float | None:
        if self._clock.is_manual or moment is None:
            return None
        return max(0.0, (moment - self._clock.now()).total_seconds())

    def _add(self, activity: Activity[Any]) -> None:
        self._enqueue(activity)
        self._is_idle = False
        self._condition.notify_all()

    def _notify_idle(self) -> None:
        self._is_idle = True
        self._condition.notify_all()


def _earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    return min((instant for instant in (one, other) if instant is not None), default=None)
