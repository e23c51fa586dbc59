"""A clock that only the test moves."""

from __future__ import annotations

from datetime import datetime


class ManualClock:
    def __init__(self, now: datetime) -> None:
        self.at = now

    def now(self) -> datetime:
        return self.at

    def sleep_until(self, instant: datetime) -> None:
        self.at = max(self.at, instant)
