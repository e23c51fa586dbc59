"""Pages of the task listing, from the index that fits the filter.

A listing of one sender reads the sender's entries. One of an open or failed status reads the lanes
of the due index that hold such tasks. All others read every task, newest first, within a bound.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from datetime import datetime, timedelta
from itertools import groupby, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from duecourse.adapters.aws.dynamodb.list_cursor import Key, ListCursor
from duecourse.adapters.aws.dynamodb.models import CreatedIndex, DueIndex, SenderIndex, TaskItem
from duecourse.adapters.aws.dynamodb.stored_item import read_items
from duecourse.adapters.aws.dynamodb.task_mapper import (
    AWAITING_FIX,
    AWAITING_RESOLUTION,
    BLOCKED,
    hash_key_of,
    sender_key,
    to_task,
)
from duecourse.domain.dispatch.lanes import DUE_LANES, Lane, partitions_of
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import to_text
from duecourse.ports.tasks import TaskPage

if TYPE_CHECKING:
    from duecourse.domain.requests.task_filter import TaskFilter

# If the filter matches few tasks, a page is short and still has a cursor.
MAX_READ_ROUNDS = 20
MAX_TASKS_READ = 1_000
BLOCKED_PARTITIONS = (AWAITING_FIX, BLOCKED, AWAITING_RESOLUTION)
# The lanes that hold all tasks of a status. Of old items, see docs/upgrading.md.
_LANES_BY_STATUS: Mapping[str, Sequence[Lane]] = {
    Status.PENDING: (*DUE_LANES, Lane.PAUSED),
    Status.IN_PROGRESS: DUE_LANES,
    Status.PENDING_VERIFICATION: (Lane.VERIFICATION,),
    Status.FAILED: (Lane.FAILED,),
}
_MIN_KEY, _MAX_KEY = "0", "~"
# A running task was due before it was claimed, by the clock of a worker.
_CLOCK_TOLERANCE = timedelta(minutes=5)


class TaskPages:
    """`scanned_shards` returns shards that may hold tasks besides those of the current count."""

    def __init__(
        self, *, shard_count: int, scanned_shards: Callable[[], Set[int]] = frozenset
    ) -> None:
        self._shard_count = shard_count
        self._scanned_shards = scanned_shards

    def list_page(
        self, task_filter: TaskFilter, *, limit: int, cursor: str | None, now: datetime
    ) -> TaskPage:
        start = None if cursor is None else ListCursor.decode(cursor)
        is_by_due_time = _is_by_due_time(task_filter, start)
        last = start.key if start else None
        keys = (
            self._iterate_due_keys(task_filter, last, limit, now)
            if is_by_due_time
            else self._iterate_created_keys(task_filter, last, limit)
        )
        tasks: list[Task] = []
        for _ in range(min(MAX_READ_ROUNDS, -(-MAX_TASKS_READ // limit))):
            chunk = list(islice(keys, limit))
            found = self._load([task_id for _, task_id in chunk])
            for last in chunk:
                task = found.get(last[1])
                if task is not None and task_filter.matches(task):
                    tasks.append(task)
                if len(tasks) == limit:
                    return TaskPage(tasks, ListCursor(last, is_by_due_time).encode())
            if len(chunk) < limit:
                return TaskPage(tasks, None)
        return TaskPage(tasks, ListCursor(last, is_by_due_time).encode() if last else None)

    def _iterate_due_keys(
        self, task_filter: TaskFilter, after: Key | None, limit: int, now: datetime
    ) -> Iterator[Key]:
        """Return the keys after `after`: soonest first, or latest first for failed tasks."""
        is_latest_first = task_filter.status == Status.FAILED
        is_running = task_filter.status == Status.IN_PROGRESS
        first, last = _MIN_KEY, to_text(now + _CLOCK_TOLERANCE) if is_running else _MAX_KEY
        if after is not None:
            first, last = (first, after[0]) if is_latest_first else (after[0], max(after[0], last))
        bounds = DueIndex.due_at.between(first, last)
        queries = [
            TaskItem.due_index.query(
                partition, bounds, scan_index_forward=not is_latest_first, page_size=limit + 1
            )
            for partition in self._partitions_of_status(task_filter.status)
        ]
        lists = [_sorted_keys(found, "due_at", after, is_latest_first) for found in queries]
        return heapq.merge(*lists, reverse=is_latest_first)

    def _partitions_of_status(self, status: str | None) -> Sequence[int]:
        lanes = _LANES_BY_STATUS.get(status or "")
        return BLOCKED_PARTITIONS if lanes is None else self._partitions(lanes)

    def _iterate_created_keys(
        self, task_filter: TaskFilter, after: Key | None, limit: int
    ) -> Iterator[Key]:
        """Return the keys before `after`, newest first, read lazily."""
        newest = after[0] if after else _MAX_KEY
        options: dict[str, Any] = {"scan_index_forward": False, "page_size": limit + 1}
        queries: Iterable[Iterable[TaskItem]]
        if task_filter.channel and task_filter.sender_id:
            key = sender_key(task_filter.channel, task_filter.sender_id)
            bounds = SenderIndex.created_at <= newest
            queries = [TaskItem.sender_index.query(key, bounds, **options)]
        else:
            bounds = CreatedIndex.created_at <= newest
            shards = self._all_shards()
            queries = [TaskItem.created_index.query(one, bounds, **options) for one in shards]
        lists = [_sorted_keys(found, "created_at", after, True) for found in queries]
        return heapq.merge(*lists, reverse=True)

    def _load(self, task_ids: Sequence[str]) -> Mapping[str, Task]:
        """Return the tasks by id. Deleted and unreadable ones are left out."""
        keys = [(hash_key_of(task_id), task_id) for task_id in task_ids]
        return {task.id: task for task in read_items(TaskItem.batch_get(keys), to_task)}

    def _all_shards(self) -> list[int]:
        return sorted({*range(self._shard_count), *self._scanned_shards()})

    def _partitions(self, lanes: Iterable[Lane]) -> list[int]:
        return partitions_of(lanes, self._all_shards()[-1] + 1)


def _is_by_due_time(task_filter: TaskFilter, start: ListCursor | None) -> bool:
    """Return whether the listing reads the due index.

    A cursor continues its own order, also one that older code issued.
    """
    if start is not None:
        return start.is_by_due_time
    if task_filter.channel and task_filter.sender_id:
        return False
    return task_filter.status in _LANES_BY_STATUS or task_filter.status == Status.BLOCKED


def _sorted_keys(
    entries: Iterable[TaskItem], attribute: str, after: Key | None, is_descending: bool
) -> Iterator[Key]:
    """Yield the keys beyond `after`. The index has equal times in any order; this sorts by id."""
    keys = read_items(entries, lambda item: (to_text(getattr(item, attribute)), item.id))
    for _, twins in groupby(keys, key=itemgetter(0)):
        rest = (
            key for key in twins if after is None or (key < after if is_descending else key > after)
        )
        yield from sorted(rest, reverse=is_descending)
