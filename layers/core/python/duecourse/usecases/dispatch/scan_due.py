"""The scanner: enqueue tasks due before the next scan, and store how far it came."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from duecourse.domain.dispatch.timing import SCAN_INTERVAL, Dispatch, scan_horizon
from duecourse.ports.dispatch import ScanCursors
from duecourse.ports.queues import WorkQueue
from duecourse.ports.runtime import Clock, FanOut
from duecourse.ports.tasks import TaskStore

CHUNK_SIZE = 100


@dataclass(frozen=True)
class ScanResult:
    dispatched_count: int
    is_complete: bool


@dataclass(frozen=True)
class ScanDeps:
    store: TaskStore
    queue: WorkQueue
    clock: Clock
    fan_out: FanOut
    has_time: Callable[[], bool] = lambda: True


def scan_due(deps: ScanDeps, cursors: ScanCursors, *, shard_count: int) -> ScanResult:
    """Enqueue the tasks of all shards that are due before the scan horizon.

    Nothing is written per task. If time runs out, the next scan continues from the saved cursors.
    """
    now = deps.clock.now()
    end = scan_horizon(now)
    stored_cursors = dict(cursors.load())
    # A new shard starts where a scan one interval ago would have ended. Tasks due earlier were
    # enqueued when they were written; if the very first scans all fail, the sweeper recovers the
    # rest.
    first = scan_horizon(now - SCAN_INTERVAL)

    def scan(shard: int) -> _ShardScan:
        return _scan_shard(deps, shard, start=stored_cursors.get(shard) or first, end=end)

    scans = list(deps.fan_out(scan, list_shards(stored_cursors, shard_count)))
    cursors.save({scan.shard: scan.scanned_until for scan in scans})
    return ScanResult(
        sum(scan.sent_count for scan in scans), all(scan.is_complete for scan in scans)
    )


@dataclass(frozen=True)
class _ShardScan:
    shard: int
    sent_count: int
    scanned_until: datetime
    is_complete: bool


def _scan_shard(deps: ScanDeps, shard: int, *, start: datetime, end: datetime) -> _ShardScan:
    sent_count, scanned_until = 0, start
    for chunk in _split_chunks(deps.store.list_due(shard, start=start, end=end)):
        if not deps.has_time():
            return _ShardScan(shard, sent_count, scanned_until, is_complete=False)
        sent_count += deps.queue.send(chunk, now=deps.clock.now())
        scanned_until = chunk[-1].due_at
    return _ShardScan(shard, sent_count, max(start, end), is_complete=True)


def list_shards(known_shards: Iterable[int], shard_count: int) -> list[int]:
    """Return all shards to scan.

    Shards above `shard_count` hold tasks from a time when there were more shards.
    """
    return sorted({*range(shard_count), *known_shards})


def _split_chunks(dispatches: Iterator[Dispatch]) -> Iterator[list[Dispatch]]:
    chunk: list[Dispatch] = []
    for dispatch in dispatches:
        chunk.append(dispatch)
        if len(chunk) == CHUNK_SIZE:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
