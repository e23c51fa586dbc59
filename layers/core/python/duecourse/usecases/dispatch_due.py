"""The scanner's look: send what falls due before the next one, and remember how far it went."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from duecourse.domain.dispatch import TICK, Dispatch, look_ends_at
from duecourse.ports import Clock, Cursors, TaskStore, WorkQueue

CHUNK = 100


@dataclass(frozen=True)
class Dispatched:
    count: int
    is_complete: bool


def dispatch_due(
    *,
    store: TaskStore,
    queue: WorkQueue,
    cursors: Cursors,
    clock: Clock,
    shard_count: int,
    has_time: Callable[[], bool] = lambda: True,
) -> Dispatched:
    """Nothing is written per task. What this look had no time for, the next one begins with."""
    now = clock.now()
    end = look_ends_at(now)
    known = dict(cursors.load())
    # A shard never looked at begins where a look a minute ago would have ended. What is due before
    # that took the fast lane; should the very first looks all fail, the sweeper finds the rest.
    first = look_ends_at(now - TICK)
    sent, is_complete = 0, True
    for shard in all_shards(known, shard_count):
        for chunk in _chunks(store.due(shard, start=known.get(shard, first), end=end)):
            if not has_time():
                is_complete = False
                break
            sent += queue.send(chunk, now=clock.now())
            known[shard] = chunk[-1].due_at
        else:
            known[shard] = max(end, known.get(shard, end))
    cursors.save(known)
    return Dispatched(sent, is_complete)


def all_shards(known: Iterable[int], shard_count: int) -> list[int]:
    """Shards beyond the present count hold the tasks of a time when there were more of them."""
    return sorted({*range(shard_count), *known})


def _chunks(dispatches: Iterator[Dispatch]) -> Iterator[list[Dispatch]]:
    chunk: list[Dispatch] = []
    for dispatch in dispatches:
        chunk.append(dispatch)
        if len(chunk) == CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
