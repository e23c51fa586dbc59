"""Where a scan starts in each partition of the due index, and what it sends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

import pytest
from duecourse.adapters.runtime.thread_pool import ThreadedFanOut
from duecourse.domain.dispatch.deployment import ROLLOUT_PERIOD
from duecourse.domain.dispatch.lanes import (
    DUE_LANES,
    Lane,
    lane_of_partition,
    partition_of,
    partitions_of,
)
from duecourse.domain.dispatch.timing import SCAN_INTERVAL, Dispatch, scan_horizon
from duecourse.domain.tasks.task import Task
from duecourse.usecases.dispatch.scan_due import ScanDeps, list_partitions, scan_due

from tests.support.builders.moments import MINUTE, NOW
from tests.support.builders.tasks import a_task
from tests.support.fakes.clock import ManualClock
from tests.support.fakes.queues import ListQueue
from tests.support.fakes.tasks import MemoryStore

SLOW = partition_of(Lane.SLOW, 0, 1)
# The cursor of a scanner that knows no lanes, a minute ago.
OLD_CURSORS = {0: scan_horizon(NOW - SCAN_INTERVAL)}


class MemoryCursors:
    def __init__(self, cursors: Mapping[int, datetime | None]) -> None:
        self.cursors = cursors

    def load(self) -> Mapping[int, datetime | None]:
        return self.cursors

    def save(self, cursors: Mapping[int, datetime]) -> None:
        self.cursors = cursors


def scan(cursors: MemoryCursors, *tasks: Task) -> ListQueue:
    """Scan a store with one shard and return what was sent."""
    queue = ListQueue()
    deps = ScanDeps(MemoryStore(*tasks), queue, ManualClock(NOW), ThreadedFanOut(1))
    scan_due(deps, cursors, shard_count=1)
    return queue


def an_action(*, due_in: timedelta) -> Task:
    return a_task(type="action", due_at=NOW + due_in)


def test_every_lane_is_scanned_and_has_a_cursor_afterwards() -> None:
    cursors = MemoryCursors({})
    scan(cursors)
    assert cursors.cursors == {
        partition: scan_horizon(NOW, lane_of_partition(partition))
        for partition in partitions_of(DUE_LANES, 1)
    }
    assert scan_horizon(NOW, Lane.SLOW_RETRY) < scan_horizon(NOW, Lane.SLOW)


def test_a_dispatch_tells_its_lane() -> None:
    [dispatch] = scan(MemoryCursors({}), an_action(due_in=2 * MINUTE))
    assert dispatch.lane is Lane.SLOW


@pytest.mark.parametrize("due_in", [timedelta(0), MINUTE, -14 * MINUTE])
def test_a_new_lane_of_a_known_shard_is_read_from_before_the_deployment(
    due_in: timedelta,
) -> None:
    """New code wrote the task while the scanner was old: it read no lanes but moved its cursor."""
    task = an_action(due_in=due_in)
    assert [one.task_id for one in scan(MemoryCursors(OLD_CURSORS), task)] == [task.id]


def test_a_new_lane_is_not_read_from_the_beginning() -> None:
    task = an_action(due_in=-ROLLOUT_PERIOD - MINUTE)
    assert scan(MemoryCursors(OLD_CURSORS), task) == []


@pytest.mark.parametrize("cursors", [{}, {SLOW: None}], ids=["new stack", "unreadable cursors"])
def test_without_cursors_a_scan_starts_where_the_one_before_would_have_ended(
    cursors: Mapping[int, datetime | None],
) -> None:
    assert scan(MemoryCursors(cursors), an_action(due_in=MINUTE)) == []
    assert len(scan(MemoryCursors(cursors), an_action(due_in=2 * MINUTE))) == 1


def test_a_known_lane_is_read_from_its_cursor() -> None:
    cursors = MemoryCursors({**OLD_CURSORS, SLOW: NOW + MINUTE})
    assert scan(cursors, an_action(due_in=MINUTE - timedelta(seconds=1))) == []
    assert len(scan(MemoryCursors({SLOW: NOW + MINUTE}), an_action(due_in=MINUTE))) == 1


def test_partitions_of_a_higher_shard_count_or_newer_code_are_still_scanned() -> None:
    known = [7, partition_of(Lane.SLOW, 7, 8), 99_003]
    assert set(known) < set(list_partitions(known, 2))


class CountingQueue(ListQueue):
    requests = 0

    def send(self, dispatches: Iterable[Dispatch], *, now: datetime) -> int:
        self.requests += 1
        return super().send(dispatches, now=now)


def tasks_of_all_lanes() -> list[Task]:
    due_at = NOW + 2 * MINUTE - timedelta(seconds=30)
    return [
        a_task(id=f"0000000{n}-0000-4000-8000-000000000000", type=kind, due_at=due_at)
        for n, kind in enumerate(["reminder", "action", "webhook"])
    ]


def test_the_tasks_of_all_partitions_are_sent_together() -> None:
    queue = CountingQueue()
    deps = ScanDeps(MemoryStore(*tasks_of_all_lanes()), queue, ManualClock(NOW), ThreadedFanOut(1))
    assert scan_due(deps, MemoryCursors({}), shard_count=4).dispatched_count == 3
    assert queue.requests == 1


def test_without_time_left_nothing_is_sent_and_the_next_scan_sends_it() -> None:
    store, queue, cursors = MemoryStore(*tasks_of_all_lanes()), ListQueue(), MemoryCursors({})
    clock, times = ManualClock(NOW), iter([True] * 2)
    out_of_time = ScanDeps(store, queue, clock, ThreadedFanOut(1), lambda: next(times, False))

    result = scan_due(out_of_time, cursors, shard_count=1)

    assert (result.dispatched_count, result.is_complete, queue) == (0, False, [])
    scan_due(ScanDeps(store, queue, clock, ThreadedFanOut(1)), cursors, shard_count=1)
    assert len(queue) == 3
