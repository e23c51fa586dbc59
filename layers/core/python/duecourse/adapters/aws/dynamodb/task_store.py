"""The task store on DynamoDB. A put replaces a task only if its version is unchanged."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from datetime import datetime, timedelta
from itertools import groupby, islice
from operator import itemgetter

from pynamodb.exceptions import DoesNotExist, PutError, TransactWriteError

from duecourse.adapters.aws.dynamodb.conditions import is_condition_failed, is_conflict
from duecourse.adapters.aws.dynamodb.journal import to_run_item
from duecourse.adapters.aws.dynamodb.list_cursor import decode_cursor, encode_cursor
from duecourse.adapters.aws.dynamodb.models import CreatedIndex, DueIndex, TaskItem
from duecourse.adapters.aws.dynamodb.stored_item import read_items
from duecourse.adapters.aws.dynamodb.subjects import to_subject_item, version_condition
from duecourse.adapters.aws.dynamodb.task_conditions import owner_condition, task_version_condition
from duecourse.adapters.aws.dynamodb.task_mapper import (
    AWAITING_FIX,
    AWAITING_RESOLUTION,
    BLOCKED,
    TO_VERIFY,
    hash_key_of,
    is_in_due_shard,
    sender_key,
    to_item,
    to_task,
)
from duecourse.adapters.aws.dynamodb.transaction import write_transaction
from duecourse.domain.dispatch.timing import Dispatch
from duecourse.domain.errors import StaleTaskError, UnknownTaskError
from duecourse.domain.failures.subject import Subject
from duecourse.domain.lifecycle.retry_throttle import RetryLane, retry_lane
from duecourse.domain.lifecycle.verification import is_awaiting_person
from duecourse.domain.requests.task_filter import TaskFilter
from duecourse.domain.tasks.owner import Owner
from duecourse.domain.tasks.run import Run
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import to_text
from duecourse.ports.tasks import TaskPage

# If the filter matches few tasks, a page is short and still has a cursor.
MAX_READ_ROUNDS = 20
_MIN_KEY = "0"


class DynamoTaskStore:
    """`scanned_shards` returns shards that may hold tasks besides those of the current count."""

    def __init__(
        self,
        *,
        shard_count: int,
        retention: timedelta,
        scanned_shards: Callable[[], Set[int]] = frozenset,
    ) -> None:
        self._shard_count = shard_count
        self._retention = retention
        self._scanned_shards = scanned_shards

    def create(self, task: Task) -> Task:
        try:
            self._to_item(task).save(TaskItem.id.does_not_exist())
        except PutError as error:
            if not is_condition_failed(error):
                raise
            return self.get(task.id)
        return task

    def get(self, task_id: str) -> Task:
        task = self._find(task_id)
        if task is None:
            raise UnknownTaskError(task_id)
        return task

    def find(self, prefix: str, *, owner: Owner | None = None) -> Sequence[Task]:
        found = TaskItem.query(
            hash_key_of(prefix),
            TaskItem.id.startswith(prefix),
            filter_condition=owner_condition(owner) if owner else None,
            consistent_read=True,
        )
        return [to_task(item) for item in found]

    def save(
        self,
        before: Task,
        after: Task,
        *,
        subject: Subject | None = None,
        ended_run: Run | None = None,
        new_task: Task | None = None,
    ) -> None:
        try:
            if subject is None and ended_run is None and new_task is None:
                self._to_item(after).save(task_version_condition(before))
            else:
                self._save_transaction(before, after, subject, ended_run, new_task)
        except (PutError, TransactWriteError) as error:
            if not is_conflict(error):
                raise
            if self._find(after.id) != after:
                raise StaleTaskError(after.id) from error

    def _save_transaction(
        self,
        before: Task,
        after: Task,
        subject: Subject | None,
        ended_run: Run | None,
        new_task: Task | None,
    ) -> None:
        with write_transaction() as transaction:
            transaction.save(self._to_item(after), condition=task_version_condition(before))
            if new_task is not None:
                transaction.save(self._to_item(new_task), condition=TaskItem.id.does_not_exist())
            if subject is not None:
                other = to_subject_item(subject)
                transaction.save(other, condition=version_condition(subject))
            if ended_run is not None:
                transaction.save(to_run_item(after.id, ended_run, retention=self._retention))

    def list_due(self, shard: int, *, start: datetime | None, end: datetime) -> Iterator[Dispatch]:
        first = to_text(start) if start else _MIN_KEY
        # BETWEEN includes its upper bound, and `end` is exclusive.
        last = to_text(end - timedelta(milliseconds=1))
        if first > last:
            return
        found = TaskItem.due_index.query(shard, DueIndex.due_at.between(first, last))
        yield from read_items(found, lambda item: Dispatch(item.due_at, item.id))

    def list_awaiting_fix(self) -> Iterator[str]:
        yield from (item.id for item in TaskItem.due_index.query(AWAITING_FIX))

    def list_blocked(self, limit: int) -> Sequence[Task]:
        due = self._load_first_due((AWAITING_FIX, BLOCKED, AWAITING_RESOLUTION), limit)
        found = [task for task in due if task.status is Status.BLOCKED]
        return sorted(found, key=lambda task: (task.blocked_since, task.id))

    def list_blocked_before(self, instant: datetime) -> Iterator[str]:
        found = TaskItem.due_index.query(BLOCKED, TaskItem.due_at <= instant)
        yield from (item.id for item in found)

    def list_open(self, owner: Owner) -> Sequence[Task]:
        keys = TaskItem.sender_index.query(sender_key(owner.channel, owner.sender_id))
        tasks = self._load([item.id for item in keys]).values()
        return sorted((task for task in tasks if task.is_open), key=lambda task: task.due_at)

    def list_page(self, task_filter: TaskFilter, *, limit: int, cursor: str | None) -> TaskPage:
        tasks: list[Task] = []
        position = decode_cursor(cursor)
        keys = self._iterate_older(position, limit)
        for _ in range(MAX_READ_ROUNDS):
            keys_read = list(islice(keys, limit))
            if not keys_read:
                return TaskPage(tasks, None)
            found = self._load([task_id for _, task_id in keys_read])
            for position in keys_read:
                task = found.get(position[1])
                if task is not None and task_filter.matches(task):
                    tasks.append(task)
                if len(tasks) == limit:
                    return TaskPage(tasks, encode_cursor(position))
        return TaskPage(tasks, encode_cursor(position))

    def list_soonest(self, limit: int) -> Sequence[Task]:
        tasks = filter(is_in_due_shard, self._load_first_due(self._all_shards(), limit))
        return sorted(tasks, key=lambda task: (task.due_at, task.id))

    def list_retries(self, limit: int) -> Sequence[Task]:
        queries = [TaskItem.retry_index.query(lane, limit=limit) for lane in RetryLane]
        lanes = [list(read_items(found, _retry_key)) for found in queries]
        waiting = [task for task in self._load_first(lanes, limit) if retry_lane(task)]
        return sorted(waiting, key=lambda task: (task.next_retry_at or task.due_at, task.id))

    def list_to_verify(self, limit: int) -> Sequence[Task]:
        lane = TaskItem.retry_index.query(TO_VERIFY, limit=limit)
        found = self._load_first([list(read_items(lane, _retry_key))], limit)
        return sorted(filter(is_awaiting_person, found), key=lambda task: (task.due_at, task.id))

    def list_latest_retry_times(self, limit: int) -> Sequence[datetime]:
        found = TaskItem.retry_index.query(RetryLane.SOON, limit=limit, scan_index_forward=False)
        return list(read_items(found, lambda item: item.next_retry_at))

    def _load_first_due(self, shards: Iterable[int], limit: int) -> Iterable[Task]:
        queries = [TaskItem.due_index.query(shard, limit=limit) for shard in shards]
        return self._load_first([list(read_items(found, _due_key)) for found in queries], limit)

    def _load_first(
        self, lanes: Sequence[Sequence[tuple[datetime, str]]], limit: int
    ) -> Iterable[Task]:
        """Load the first `limit` tasks of all lanes.

        The index is eventually consistent, so callers check the loaded tasks again.
        """
        keys = islice(heapq.merge(*lanes), limit)
        return self._load([task_id for _, task_id in keys]).values()

    def _iterate_older(self, position: tuple[str, str], limit: int) -> Iterator[tuple[str, str]]:
        """Return the keys before `position`, newest first, over all shards, read lazily."""
        shards = [self._shard_keys(shard, position, limit) for shard in self._all_shards()]
        return heapq.merge(*shards, reverse=True)

    def _shard_keys(
        self, shard: int, position: tuple[str, str], limit: int
    ) -> Iterator[tuple[str, str]]:
        """Yield the shard's keys before `position`, newest first.

        The index has tasks of the same millisecond in any order; this sorts them by id.
        """
        found = TaskItem.created_index.query(
            shard,
            CreatedIndex.created_at <= position[0],
            scan_index_forward=False,
            page_size=limit + 1,
        )
        keys = read_items(found, lambda item: (to_text(item.created_at), item.id))
        for _, twins in groupby(keys, key=itemgetter(0)):
            yield from sorted((key for key in twins if key < position), reverse=True)

    def _load(self, task_ids: Sequence[str]) -> Mapping[str, Task]:
        """Return the tasks by id. Deleted and unreadable ones are left out."""
        keys = [(hash_key_of(task_id), task_id) for task_id in task_ids]
        return {task.id: task for task in read_items(TaskItem.batch_get(keys), to_task)}

    def _all_shards(self) -> list[int]:
        return sorted({*range(self._shard_count), *self._scanned_shards()})

    def _to_item(self, task: Task) -> TaskItem:
        return to_item(task, shard_count=self._shard_count, retention=self._retention)

    def _find(self, task_id: str) -> Task | None:
        try:
            return to_task(TaskItem.get(hash_key_of(task_id), task_id, consistent_read=True))
        except DoesNotExist:
            return None


def _due_key(item: TaskItem) -> tuple[datetime, str]:
    return item.due_at, item.id


def _retry_key(item: TaskItem) -> tuple[datetime, str]:
    return item.next_retry_at, item.id
