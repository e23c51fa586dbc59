"""The runtime environment: clock, backoff and concurrency."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Protocol, TypeVar

T = TypeVar("T")


class Clock(Protocol):
    def now(self) -> datetime:
        """Return the current time, timezone-aware, in UTC."""

    def sleep_until(self, instant: datetime) -> None:
        """Return at `instant` or just after it; at once if it has passed."""


class Backoff(Protocol):
    def __call__(self, attempt: int, /) -> None:
        """Sleep before the next try, a little longer for each attempt."""


class FanOut(Protocol):
    def __call__(self, work: Callable[[int], T], shards: Sequence[int]) -> Iterable[T]:
        """Run `work` for every shard, concurrently where possible. Raises the first error."""
