"""What the use cases need of the machine: the time, and many hands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Protocol, TypeVar

T = TypeVar("T")


class Clock(Protocol):
    def now(self) -> datetime:
        """The present, aware, in UTC."""

    def sleep_until(self, instant: datetime) -> None:
        """Return at the instant or just after it, at once if it has passed."""


class Backoff(Protocol):
    def __call__(self, attempt: int, /) -> None:
        """Let the others finish before the next try, a little longer each time."""


class FanOut(Protocol):
    def __call__(self, work: Callable[[int], T], shards: Sequence[int]) -> Iterable[T]:
        """Do the work for every shard, as far as can be at once. The first error is raised."""
