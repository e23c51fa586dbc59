"""The only module that reads the system clock."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)  # noqa: TID251 - this is the clock

    def sleep_until(self, instant: datetime) -> None:
        left = (instant - self.now()).total_seconds()
        if left > 0:
            time.sleep(left)
