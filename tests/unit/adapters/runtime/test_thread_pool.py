"""Shards are looked at side by side, or in turn."""

from __future__ import annotations

from threading import Barrier

import pytest
from duecourse.adapters.runtime.thread_pool import ThreadedFanOut

SHARDS = [0, 1, 2, 3]


def test_shards_are_looked_at_side_by_side() -> None:
    all_at_once = Barrier(len(SHARDS), timeout=5)

    def look(shard: int) -> int:
        all_at_once.wait()
        return shard * 10

    assert list(ThreadedFanOut(8)(look, SHARDS)) == [0, 10, 20, 30]


def test_one_thread_looks_in_turn() -> None:
    seen: list[int] = []
    list(ThreadedFanOut(1)(seen.append, SHARDS))
    assert seen == SHARDS


@pytest.mark.parametrize("threads", [1, 8])
def test_a_look_that_fails_is_not_passed_over(threads: int) -> None:
    def look(shard: int) -> int:
        return 10 // shard

    with pytest.raises(ZeroDivisionError):
        list(ThreadedFanOut(threads)(look, SHARDS))
