"""Shards are processed in parallel or one after the other."""

from __future__ import annotations

from threading import Barrier

import pytest
from duecourse.adapters.runtime.thread_pool import ThreadedFanOut

SHARDS = [0, 1, 2, 3]


def test_shards_are_processed_in_parallel() -> None:
    all_at_once = Barrier(len(SHARDS), timeout=5)

    def look(shard: int) -> int:
        all_at_once.wait()
        return shard * 10

    assert list(ThreadedFanOut(8)(look, SHARDS)) == [0, 10, 20, 30]


def test_one_thread_processes_shards_in_order() -> None:
    processed: list[int] = []
    list(ThreadedFanOut(1)(processed.append, SHARDS))
    assert processed == SHARDS


@pytest.mark.parametrize("threads", [1, 8])
def test_the_error_of_a_shard_is_raised(threads: int) -> None:
    def look(shard: int) -> int:
        return 10 // shard

    with pytest.raises(ZeroDivisionError):
        list(ThreadedFanOut(threads)(look, SHARDS))
