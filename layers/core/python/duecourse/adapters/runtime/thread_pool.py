"""Process shards in parallel threads. The work waits for the network, not for the CPU."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


class ThreadedFanOut:
    def __init__(self, threads: int) -> None:
        self._threads = threads

    def __call__(self, work: Callable[[int], T], shards: Sequence[int]) -> Iterable[T]:
        if self._threads == 1:
            return map(work, shards)
        with ThreadPoolExecutor(self._threads) as pool:
            return list(pool.map(work, shards))
