"""The listings of the task store.

They read index entries first and then the tasks. An index lags behind, so each listing checks the
tasks it has read.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import islice

from duecourse.adapters.aws.dynamodb.due_entries import list_entries
from duecourse.adapters.aws.dynamodb.models import TaskItem
from duecourse.adapters.aws.dynamodb.stored_item import read_items
from duecourse.adapters.aws.dynamodb.task_mapper import (
    AWAITING_FIX,
    BLOCKED,
    is_in_due_shard,
    sender_key,
)
from duecourse.adapters.aws.dynamodb.task_pages import (
    BLOCKED_PARTITIONS,
    MAX_READ_ROUNDS,
    TaskPages,
)
from duecourse.domain.dispatch.lanes import (
    DUE_LANES,
    RETRY_LANES,
    Lane,
    lane_of_partition,
)
from duecourse.domain.dispatch.timing import Dispatch
from duecourse.domain.lifecycle.task_lane import is_retry_pending
from duecourse.domain.tasks.owner import Owner
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import from_text, to_text

# Of a sender's tasks, open or not, at most this many of the newest and of the oldest are read.
MAX_SENDER_TASKS = 1_000
_MIN_KEY = "0"
_MILLISECOND = timedelta(milliseconds=1)
DueKey = tuple[datetime, str]


class TaskListings(TaskPages):
    def list_due(
        self, partition: int, *, start: datetime | None, end: datetime
    ) -> Iterator[Dispatch]:
        first = to_text(start) if start else _MIN_KEY
        # BETWEEN includes its upper bound, and `end` is exclusive.
        last = to_text(end - _MILLISECOND)
        if first > last:
            return
        lane = lane_of_partition(partition)
        for entry in list_entries(partition, first, last):
            try:
                yield Dispatch(from_text(entry["due_at"]["S"]), entry["id"]["S"], lane)
            except (KeyError, TypeError, ValueError):
                # The model says what cannot be read.
                yield from read_items([TaskItem.from_raw_data(entry)], partial(_to_dispatch, lane))

    def list_awaiting_fix(self) -> Iterator[str]:
        yield from (item.id for item in TaskItem.due_index.query(AWAITING_FIX))

    def list_blocked(self, limit: int) -> Sequence[Task]:
        keys = self._iterate_due(BLOCKED_PARTITIONS, limit)
        found = self._load_keys(islice(keys, limit))
        blocked = [task for task in found if task.status is Status.BLOCKED]
        return sorted(blocked, key=lambda task: (task.blocked_since, task.id))

    def list_blocked_before(self, instant: datetime) -> Iterator[str]:
        found = TaskItem.due_index.query(BLOCKED, TaskItem.due_at <= instant)
        yield from (item.id for item in found)

    def list_open(self, owner: Owner) -> Sequence[Task]:
        key = sender_key(owner.channel, owner.sender_id)
        ids: dict[str, None] = {}
        for is_oldest_first in (False, True):
            found = TaskItem.sender_index.query(
                key, limit=MAX_SENDER_TASKS, scan_index_forward=is_oldest_first
            )
            ids |= dict.fromkeys(item.id for item in found)
            if len(ids) < MAX_SENDER_TASKS:
                break
        tasks = self._load(list(ids)).values()
        return sorted((task for task in tasks if task.is_open), key=lambda task: task.due_at)

    def list_soonest(self, limit: int, lanes: Sequence[Lane] = DUE_LANES) -> Sequence[Task]:
        keys = self._iterate_due(self._partitions(lanes), limit)
        tasks = filter(is_in_due_shard, self._load_keys(islice(keys, limit)))
        return sorted(tasks, key=lambda task: (task.due_at, task.id))

    def list_retries(self, limit: int) -> Sequence[Task]:
        found = self._list_matching(RETRY_LANES, is_retry_pending, limit)
        return sorted(found, key=lambda task: (task.due_at, task.id))

    def list_to_verify(self, limit: int) -> Sequence[Task]:
        # The worker has this class too, and never lists.
        from duecourse.domain.lifecycle.verification import is_awaiting_person

        found = self._list_matching((Lane.VERIFICATION,), is_awaiting_person, limit)
        return sorted(found, key=lambda task: (task.due_at, task.id))

    def list_latest_due(self, partition: int, limit: int) -> Sequence[datetime]:
        found = TaskItem.due_index.query(partition, limit=limit, scan_index_forward=False)
        return list(read_items(found, lambda item: item.due_at))

    def count_due(self, partition: int, *, start: datetime, end: datetime, limit: int) -> int:
        first, last = to_text(start), to_text(end - _MILLISECOND)
        return sum(1 for _ in list_entries(partition, first, last, limit=limit))

    def _list_matching(
        self, lanes: Sequence[Lane], is_listed: Callable[[Task], bool], limit: int
    ) -> Sequence[Task]:
        """Return the first `limit` tasks of the lanes that match.

        The entries of running tasks come first, so it reads on past them, within limits.
        """
        keys = self._iterate_due(self._partitions(lanes), limit)
        tasks: list[Task] = []
        for _ in range(MAX_READ_ROUNDS):
            chunk = list(islice(keys, limit))
            tasks += sorted(filter(is_listed, self._load_keys(chunk)), key=_due_key_of)
            if len(chunk) < limit or len(tasks) >= limit:
                break
        return tasks[:limit]

    def _iterate_due(self, partitions: Iterable[int], page_size: int) -> Iterator[DueKey]:
        """Return the keys of all partitions, soonest first, read lazily."""
        queries = [TaskItem.due_index.query(number, page_size=page_size) for number in partitions]
        return heapq.merge(*(read_items(found, _due_key) for found in queries))

    def _load_keys(self, keys: Iterable[DueKey]) -> Iterable[Task]:
        return self._load([task_id for _, task_id in keys]).values()


def _to_dispatch(lane: Lane | None, item: TaskItem) -> Dispatch:
    return Dispatch(item.due_at, item.id, lane)


def _due_key(item: TaskItem) -> DueKey:
    return item.due_at, item.id


def _due_key_of(task: Task) -> DueKey:
    return task.due_at, task.id
