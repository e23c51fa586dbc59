"""The task store on DynamoDB. A put replaces a task only if its version is unchanged."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from pynamodb.exceptions import DeleteError, PutError, TransactWriteError

from duecourse.adapters.aws.dynamodb.conditions import is_condition_failed, is_conflict
from duecourse.adapters.aws.dynamodb.first_claim import update_if_new
from duecourse.adapters.aws.dynamodb.item_codec import Stored
from duecourse.adapters.aws.dynamodb.models import TaskItem
from duecourse.adapters.aws.dynamodb.raw_items import Key, delete_stored, get_stored, put_stored
from duecourse.adapters.aws.dynamodb.task_conditions import (
    NEW_TASK,
    owner_condition,
    task_version_condition,
    unchanged_since,
)
from duecourse.adapters.aws.dynamodb.task_listings import TaskListings
from duecourse.adapters.aws.dynamodb.task_mapper import (
    from_stored,
    hash_key_of,
    to_item,
    to_stored,
    to_task,
)
from duecourse.adapters.aws.dynamodb.transaction import write_transaction
from duecourse.domain.errors import StaleTaskError, UnknownTaskError
from duecourse.domain.tasks.owner import Owner
from duecourse.domain.tasks.run import Run
from duecourse.domain.tasks.task import Task

if TYPE_CHECKING:
    from duecourse.domain.failures.subject import Subject


class DynamoTaskStore(TaskListings):
    def __init__(
        self,
        *,
        shard_count: int,
        retention: timedelta,
        scanned_shards: Callable[[], Set[int]] = frozenset,
    ) -> None:
        super().__init__(shard_count=shard_count, scanned_shards=scanned_shards)
        self._retention = retention

    def create(self, task: Task) -> Task:
        try:
            put_stored(TaskItem, self._to_stored(task), NEW_TASK)
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

    def peek(self, task_id: str) -> Task | None:
        return self._find(task_id, is_consistent=False)

    def get_many(self, task_ids: Sequence[str]) -> Sequence[Task]:
        found = self._load(task_ids)
        return [found[task_id] for task_id in task_ids if task_id in found]

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
        new_task: Task | None = None,
    ) -> None:
        try:
            if subject is None and new_task is None:
                put_stored(TaskItem, self._to_stored(after), unchanged_since(before))
            else:
                self._save_transaction(before, after, subject, new_task)
        except (PutError, TransactWriteError) as error:
            if not is_conflict(error):
                raise
            if self._find(after.id) != after:
                raise StaleTaskError(after.id) from error

    def delete(self, task: Task) -> None:
        try:
            delete_stored(TaskItem, _key_of(task.id), unchanged_since(task))
        except DeleteError as error:
            if not is_condition_failed(error):
                raise
            if self._find(task.id) is not None:
                raise StaleTaskError(task.id) from error

    def claim_new(self, task_id: str, run: Run, *, due_at: datetime) -> Task | None:
        stored = update_if_new(_key_of(task_id), run, due_at=due_at)
        if stored is not None:
            return from_stored(stored)
        found = self._find(task_id)
        return found if found is not None and found.run_id == run.id else None

    def _save_transaction(
        self, before: Task, after: Task, subject: Subject | None, new_task: Task | None
    ) -> None:
        with write_transaction() as transaction:
            transaction.save(self._to_item(after), condition=task_version_condition(before))
            if new_task is not None:
                transaction.save(self._to_item(new_task), condition=TaskItem.id.does_not_exist())
            if subject is not None:
                from duecourse.adapters.aws.dynamodb.subjects import (
                    to_subject_item,
                    version_condition,
                )

                other = to_subject_item(subject)
                transaction.save(other, condition=version_condition(subject))

    def _to_item(self, task: Task) -> TaskItem:
        return to_item(task, shard_count=self._shard_count, retention=self._retention)

    def _to_stored(self, task: Task) -> Stored:
        return to_stored(task, shard_count=self._shard_count, retention=self._retention)

    def _find(self, task_id: str, *, is_consistent: bool = True) -> Task | None:
        stored = get_stored(TaskItem, _key_of(task_id), is_consistent=is_consistent)
        return None if stored is None else from_stored(stored)


def _key_of(task_id: str) -> Key:
    return {"short_id": {"S": hash_key_of(task_id)}, "id": {"S": task_id}}
