"""The task store on DynamoDB: every change is one put on condition of the version it replaces."""

from __future__ import annotations

import base64
import heapq
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby, islice
from operator import itemgetter

from pynamodb.exceptions import DoesNotExist, PutError, TransactWriteError
from pynamodb.expressions.condition import Condition

from duecourse.adapters.aws.dynamodb.conditions import lost_a_race, lost_its_condition
from duecourse.adapters.aws.dynamodb.journal import to_run_item
from duecourse.adapters.aws.dynamodb.models import CreatedIndex, DueIndex, TaskItem
from duecourse.adapters.aws.dynamodb.stored_item import read_items
from duecourse.adapters.aws.dynamodb.subjects import replaces_the_one_before, to_subject_item
from duecourse.adapters.aws.dynamodb.task_mapper import (
    AWAITING_FIX,
    BLOCKED,
    IN_DOUBT,
    TO_VERIFY,
    hash_key_of,
    runs_or_comes,
    sender_key,
    to_item,
    to_task,
)
from duecourse.adapters.aws.dynamodb.transaction import together
from duecourse.domain.dispatch.timing import Dispatch
from duecourse.domain.errors import StaleTaskError, UnknownTaskError
from duecourse.domain.failures.subject import Subject
from duecourse.domain.lifecycle.retry_throttle import Lane, retry_lane
from duecourse.domain.lifecycle.verification import awaits_a_person
from duecourse.domain.requests.task_filter import Filter
from duecourse.domain.tasks.owner import Owner
from duecourse.domain.tasks.run import Run
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import from_text, to_text
from duecourse.ports.tasks import Page

# A listing whose filter lets hardly anything through answers with a short page and a cursor.
MOST_ROUNDS = 20
_BEFORE_ALL = "0"
_AFTER_ALL = "~"


class DynamoTaskStore:
    def __init__(self, *, shard_count: int, retention: timedelta) -> None:
        self._shard_count = shard_count
        self._retention = retention

    def create(self, task: Task) -> Task:
        try:
            self._item(task).save(TaskItem.id.does_not_exist())
        except PutError as error:
            if not lost_its_condition(error):
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
            filter_condition=_belongs_to(owner) if owner else None,
            consistent_read=True,
        )
        return [to_task(item) for item in found]

    def save(
        self,
        before: Task,
        after: Task,
        *,
        subject: Subject | None = None,
        ended: Run | None = None,
        made: Task | None = None,
    ) -> None:
        try:
            if subject is None and ended is None and made is None:
                self._item(after).save(_unchanged(before))
            else:
                self._save_together(before, after, subject, ended, made)
        except (PutError, TransactWriteError) as error:
            if not lost_a_race(error):
                raise
            if self._find(after.id) != after:
                raise StaleTaskError(after.id) from error

    def _save_together(
        self,
        before: Task,
        after: Task,
        subject: Subject | None,
        ended: Run | None,
        made: Task | None,
    ) -> None:
        with together() as transaction:
            transaction.save(self._item(after), condition=_unchanged(before))
            if made is not None:
                transaction.save(self._item(made), condition=TaskItem.id.does_not_exist())
            if subject is not None:
                other = to_subject_item(subject)
                transaction.save(other, condition=replaces_the_one_before(subject))
            if ended is not None:
                transaction.save(to_run_item(after.id, ended, retention=self._retention))

    def due(self, shard: int, *, start: datetime | None, end: datetime) -> Iterator[Dispatch]:
        first = to_text(start) if start else _BEFORE_ALL
        # BETWEEN includes its upper end; the last millisecond before `end` does not.
        last = to_text(end - timedelta(milliseconds=1))
        if first > last:
            return
        found = TaskItem.due_index.query(shard, DueIndex.due_at.between(first, last))
        yield from read_items(found, lambda item: Dispatch(item.due_at, item.id))

    def awaiting_fix(self) -> Iterator[str]:
        yield from (item.id for item in TaskItem.due_index.query(AWAITING_FIX))

    def blocked(self, limit: int) -> Sequence[Task]:
        shards = (AWAITING_FIX, BLOCKED, IN_DOUBT)
        queries = [TaskItem.due_index.query(shard, limit=limit) for shard in shards]
        lanes = [list(read_items(found, _due_key)) for found in queries]
        found = [task for task in self._first_of(lanes, limit) if task.status is Status.BLOCKED]
        return sorted(found, key=lambda task: (task.blocked_since, task.id))

    def blocked_before(self, instant: datetime) -> Iterator[str]:
        found = TaskItem.due_index.query(BLOCKED, TaskItem.due_at <= instant)
        yield from (item.id for item in found)

    def open_of(self, owner: Owner) -> Sequence[Task]:
        keys = TaskItem.sender_index.query(sender_key(owner.channel, owner.sender_id))
        tasks = self._load([item.id for item in keys]).values()
        return sorted((task for task in tasks if task.is_open), key=lambda task: task.due_at)

    def page(self, wanted: Filter, *, limit: int, cursor: str | None) -> Page:
        shown: list[Task] = []
        position = _decoded(cursor)
        keys = self._older_than(position, limit)
        for _ in range(MOST_ROUNDS):
            looked_at = list(islice(keys, limit))
            if not looked_at:
                return Page(shown, None)
            found = self._load([task_id for _, task_id in looked_at])
            for position in looked_at:
                task = found.get(position[1])
                if task is not None and wanted.matches(task):
                    shown.append(task)
                if len(shown) == limit:
                    return Page(shown, _encoded(position))
        return Page(shown, _encoded(position))

    def soonest(self, limit: int) -> Sequence[Task]:
        shards = range(self._shard_count)
        queries = [TaskItem.due_index.query(shard, limit=limit) for shard in shards]
        lanes = [list(read_items(found, _due_key)) for found in queries]
        coming = [task for task in self._first_of(lanes, limit) if runs_or_comes(task)]
        return sorted(coming, key=lambda task: (task.due_at, task.id))

    def retries(self, limit: int) -> Sequence[Task]:
        queries = [TaskItem.retry_index.query(lane, limit=limit) for lane in Lane]
        lanes = [list(read_items(found, _retry_key)) for found in queries]
        waiting = [task for task in self._first_of(lanes, limit) if retry_lane(task)]
        return sorted(waiting, key=lambda task: (task.next_retry_at or task.due_at, task.id))

    def to_verify(self, limit: int) -> Sequence[Task]:
        lane = TaskItem.retry_index.query(TO_VERIFY, limit=limit)
        found = self._first_of([list(read_items(lane, _retry_key))], limit)
        return sorted(filter(awaits_a_person, found), key=lambda task: (task.due_at, task.id))

    def latest_retries(self, limit: int) -> Sequence[datetime]:
        found = TaskItem.retry_index.query(Lane.SOON, limit=limit, scan_index_forward=False)
        return list(read_items(found, lambda item: item.next_retry_at))

    def _first_of(
        self, lanes: Sequence[Sequence[tuple[datetime, str]]], limit: int
    ) -> Iterable[Task]:
        """An index lags: only what is read anew tells what a task still waits for."""
        keys = islice(heapq.merge(*lanes), limit)
        return self._load([task_id for _, task_id in keys]).values()

    def _older_than(self, position: tuple[str, str], limit: int) -> Iterator[tuple[str, str]]:
        """The keys after the position, newest first, over all shards, read as far as one asks."""
        shards = [self._shard_keys(shard, position, limit) for shard in range(self._shard_count)]
        return heapq.merge(*shards, reverse=True)

    def _shard_keys(
        self, shard: int, position: tuple[str, str], limit: int
    ) -> Iterator[tuple[str, str]]:
        """Several tasks may share a millisecond, in whatever order the index has them: they are
        put into that of their ids, and those up to the position are passed."""
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
        """The tasks by id; those gone meanwhile, or that cannot be read, are left out."""
        keys = [(hash_key_of(task_id), task_id) for task_id in task_ids]
        return {task.id: task for task in read_items(TaskItem.batch_get(keys), to_task)}

    def _item(self, task: Task) -> TaskItem:
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


def _unchanged(task: Task) -> Condition:
    # Items from before there were versions have none: they count as version 0.
    never_versioned = TaskItem.version.does_not_exist() & TaskItem.id.exists()
    return TaskItem.version == task.version if task.version else never_versioned


def _belongs_to(owner: Owner) -> Condition:
    is_theirs: Condition = (TaskItem.channel == owner.channel) & (
        TaskItem.sender_id == owner.sender_id
    )
    return is_theirs


def _encoded(position: tuple[str, str]) -> str:
    return base64.urlsafe_b64encode(json.dumps(position).encode()).decode()


def _decoded(cursor: str | None) -> tuple[str, str]:
    """Raises ValueError for a cursor we did not give."""
    if cursor is None:
        return (_AFTER_ALL, _AFTER_ALL)
    try:
        created_at, task_id = json.loads(base64.urlsafe_b64decode(cursor.encode()))
        from_text(created_at)
        return created_at, str(task_id)
    except (AttributeError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise ValueError("is not a cursor of this listing") from error
