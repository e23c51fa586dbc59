"""The scanner: enqueue tasks due before the next scan, and store how far it came."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from duecourse.domain.dispatch.deployment import ROLLOUT_PERIOD
from duecourse.domain.dispatch.lanes import (
    DUE_LANES,
    lane_of_partition,
    partitions_of,
    shard_of_partition,
)
from duecourse.domain.dispatch.timing import SCAN_INTERVAL, Dispatch, scan_horizon
from duecourse.ports.dispatch import ScanCursors
from duecourse.ports.queues import WorkQueue
from duecourse.ports.runtime import Clock, FanOut
from duecourse.ports.tasks import TaskStore
from duecourse.usecases.dispatch.send_aligned import send_aligned

CHUNK_SIZE = 100
# With more to send than fits into this time, the messages of a batch share a worker's sleep.
MAX_ALIGNMENT = timedelta(seconds=2)


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
    """Enqueue the tasks of all partitions that are due before the scan horizon.

    Nothing is written per task. If time runs out, the next scan continues from the saved cursors.
    """
    now = deps.clock.now()
    stored_cursors = dict(cursors.load())
    align_until = now + MAX_ALIGNMENT

    def scan(partition: int) -> _PartitionScan:
        start = stored_cursors.get(partition) or _first_start(partition, stored_cursors, now=now)
        end = scan_horizon(now, lane_of_partition(partition))
        return _scan_partition(deps, partition, start=start, end=end, align_until=align_until)

    scans = list(deps.fan_out(scan, list_partitions(stored_cursors, shard_count)))
    if deps.has_time():
        scans = _send_remainders(deps, scans, align_until=align_until)
    cursors.save({scan.partition: scan.scanned_until for scan in scans})
    return ScanResult(
        sum(scan.sent_count for scan in scans), all(scan.is_complete for scan in scans)
    )


@dataclass(frozen=True)
class _PartitionScan:
    """`remainder`: the last tasks, which are not sent yet. `end`: of the scan, once they are."""

    partition: int
    sent_count: int
    scanned_until: datetime
    end: datetime
    remainder: Sequence[Dispatch] = ()
    is_out_of_time: bool = False
    is_complete: bool = False

    def complete(self) -> _PartitionScan:
        return replace(
            self,
            sent_count=self.sent_count + len(self.remainder),
            scanned_until=max(self.scanned_until, self.end),
            remainder=(),
            is_complete=True,
        )


def _send_remainders(
    deps: ScanDeps, scans: Sequence[_PartitionScan], *, align_until: datetime
) -> list[_PartitionScan]:
    """Send what is left of all partitions together, so that it shares requests and the wait."""
    remainder = sorted(one for scan in scans for one in scan.remainder)
    send_aligned(remainder, queue=deps.queue, clock=deps.clock, deadline=align_until)
    return [scan if scan.is_out_of_time else scan.complete() for scan in scans]


def _first_start(
    partition: int, stored_cursors: Mapping[int, datetime | None], *, now: datetime
) -> datetime:
    """Return where the first scan of a partition starts.

    A new shard starts where a scan one interval ago would have ended. Tasks due earlier were
    enqueued when they were written; if the very first scans all fail, the sweeper recovers the
    rest. A new lane of a known shard starts earlier: during the deployment that brought it, new
    code wrote tasks to it while the scanner of the old code did not read it.
    """
    is_new_lane = (
        partition not in stored_cursors and shard_of_partition(partition) in stored_cursors
    )
    if is_new_lane:
        return now - ROLLOUT_PERIOD
    return scan_horizon(now - SCAN_INTERVAL, lane_of_partition(partition))


def _scan_partition(
    deps: ScanDeps, partition: int, *, start: datetime, end: datetime, align_until: datetime
) -> _PartitionScan:
    scan = _PartitionScan(partition, 0, start, end)
    for chunk in _split_chunks(deps.store.list_due(partition, start=start, end=end)):
        if not deps.has_time():
            return replace(scan, is_out_of_time=True)
        if len(chunk) < CHUNK_SIZE:
            return replace(scan, remainder=chunk)
        send_aligned(chunk, queue=deps.queue, clock=deps.clock, deadline=align_until)
        sent_count = scan.sent_count + len(chunk)
        scan = replace(scan, sent_count=sent_count, scanned_until=chunk[-1].due_at)
    return scan


def list_partitions(known_partitions: Iterable[int], shard_count: int) -> list[int]:
    """Return all partitions of the due index to scan.

    Known partitions beyond `shard_count` hold tasks from a time when there were more shards.
    """
    return sorted({*partitions_of(DUE_LANES, shard_count), *known_partitions})


def _split_chunks(dispatches: Iterator[Dispatch]) -> Iterator[list[Dispatch]]:
    chunk: list[Dispatch] = []
    for dispatch in dispatches:
        chunk.append(dispatch)
        if len(chunk) == CHUNK_SIZE:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
