"""The local stack's clock, shared by handlers, moto and the runtime.

time-machine changes the process's current time. `time.sleep` is redirected to the scheduler, so
code that sleeps inside a function sleeps on this clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import SupportsIndex

import time_machine

_real_sleep = time.sleep


class LocalClock:
    def __init__(self, *, is_manual: bool, starts_at: datetime | None = None) -> None:
        self.is_manual = is_manual
        self._travel = time_machine.travel(starts_at or datetime.now(UTC), tick=not is_manual)
        self._traveller: time_machine.Traveller | None = None
        self._frozen_at: datetime | None = None

    def start(self, sleep: Callable[[float], bool]) -> None:
        """Start the clock.

        `sleep` returns False for threads it does not manage; those really sleep.
        """
        self._traveller = self._travel.start()

        def sleep_here(seconds: float | SupportsIndex) -> None:
            if not sleep(float(seconds)):
                _real_sleep(seconds)

        time.sleep = sleep_here

    def stop(self) -> None:
        time.sleep = _real_sleep
        self._frozen_at = None
        self._travel.stop()

    def now(self) -> datetime:
        return self._frozen_at or datetime.now(UTC)

    def freeze_at(self, instant: datetime) -> None:
        """Move to `instant` and stop there."""
        if self._frozen_at is None or self._traveller is None:
            self._move(instant, tick=False)
        else:  # a tenth of the time
            self._traveller.shift(instant - self._frozen_at)
        self._frozen_at = instant

    def resume(self) -> None:
        """Let time run again, unless the clock is manual."""
        self._move(self.now(), tick=not self.is_manual)
        self._frozen_at = self._frozen_at if self.is_manual else None

    def _move(self, instant: datetime, *, tick: bool) -> None:
        if self._traveller is None:
            raise RuntimeError("the clock has not been started")
        self._traveller.move_to(instant, tick=tick)
