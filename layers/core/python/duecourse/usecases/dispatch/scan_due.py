"""The scanner's look: send what falls due before the next one, and remember how far it went."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from duecourse.domain.dispatch.timing import TICK, Dispatch, look_ends_at
from duecourse.ports.dispatch import Cursors
from duecourse.ports.queues import WorkQueue
from duecourse.ports.runtime import Clock, FanOut
from duecourse.ports.tasks import TaskStore

CHUNK = 100


@dataclass(frozen=True)
class Dispatched:
    count: int
    is_complete: bool


@dataclass(frozen=True)
class Scanner:
    """All that a look needs besides how far the last one went."""

    store: TaskStore
    queue: WorkQueue
    clock: Clock
    fan_out: FanOut
    has_time: Callable[[], bool] = lambda: True


def dispatch_due(scanner: Scanner, cursors: Cursors, *, shard_count: int) -> Dispatched:
    """Nothing is written per task. What this look had no time for, the next one begins with."""
    now = scanner.clock.now()
    end = look_ends_at(now)
    known = dict(cursors.load())
    # A shard never looked at begins where a look a minute ago would have ended. What is due before
    # that took the fast lane; should the very first looks all fail, the sweeper finds the rest.
    first = look_ends_at(now - TICK)

    def look(shard: int) -> _Looked:
        return _look(scanner, shard, start=known.get(shard, first), end=end)

    looked = list(scanner.fan_out(look, all_shards(known, shard_count)))
    cursors.save({shard.number: shard.reached for shard in looked})
    return Dispatched(
        sum(shard.sent for shard in looked), all(shard.is_complete for shard in looked)
    )


@dataclass(frozen=True)
class _Looked:
    number: int
    sent: int
    reached: datetime
    is_complete: bool


def _look(scanner: Scanner, shard: int, *, start: datetime, end: datetime) -> _Looked:
    sent, reached = 0, start
    for chunk in _chunks(scanner.store.due(shard, start=start, end=end)):
        if not scanner.has_time():
            return _Looked(shard, sent, reached, is_complete=False)
        sent += scanner.queue.send(chunk, now=scanner.clock.now())
        reached = chunk[-1].due_at
    return _Looked(shard, sent, max(start, end), is_complete=True)


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
