"""Tasks and subjects in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from duecourse.domain.dispatch.lanes import DUE_LANES, Lane, partition_of, partitions_of
from duecourse.domain.dispatch.timing import Dispatch
from duecourse.domain.errors import StaleSubjectError, StaleTaskError, UnknownTaskError
from duecourse.domain.failures.subject import Subject
from duecourse.domain.lifecycle.blocked import can_time_out, is_awaiting_fix
from duecourse.domain.lifecycle.task_lane import dispatch_of, is_retry_pending, lane_of
from duecourse.domain.lifecycle.verification import is_awaiting_person
from duecourse.domain.requests.task_filter import TaskFilter
from duecourse.domain.tasks.ids import shard_of
from duecourse.domain.tasks.owner import Owner
from duecourse.domain.tasks.run import Run
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.ports.tasks import TaskPage


class MemorySubjects:
    def __init__(self, *subjects: Subject) -> None:
        self._stored = {subject.id: subject for subject in subjects}

    def get(self, subject_id: str) -> Subject:
        return self._stored.get(subject_id, Subject(id=subject_id))

    def save(self, subject: Subject) -> None:
        if self.get(subject.id).version != subject.version - 1:
            raise StaleSubjectError(subject.id)
        self._stored[subject.id] = subject


class MemoryStore:
    """Each save first calls the next of `concurrent_writes`, as if another writer were faster."""

    def __init__(
        self, *tasks: Task, subjects: MemorySubjects | None = None, shard_count: int = 1
    ) -> None:
        self.tasks = {task.id: task for task in tasks}
        self.subjects = MemorySubjects() if subjects is None else subjects
        self.replica: dict[str, Task | None] = {}  # outdated tasks that `peek` returns
        self.concurrent_writes: list[Callable[[], object]] = []
        self._shard_count = shard_count

    def create(self, task: Task) -> Task:
        return self.tasks.setdefault(task.id, task)

    def get(self, task_id: str) -> Task:
        if task_id not in self.tasks:
            raise UnknownTaskError(task_id)
        return self.tasks[task_id]

    def peek(self, task_id: str) -> Task | None:
        return self.replica.get(task_id, self.tasks.get(task_id))

    def get_many(self, task_ids: Sequence[str]) -> Sequence[Task]:
        return [self.tasks[task_id] for task_id in task_ids if task_id in self.tasks]

    def find(self, prefix: str, *, owner: Owner | None = None) -> Sequence[Task]:
        tasks = [task for task in self._by_id() if task.id.startswith(prefix)]
        return [task for task in tasks if owner in (None, task.owner)]

    def save(
        self,
        before: Task,
        after: Task,
        *,
        subject: Subject | None = None,
        new_task: Task | None = None,
    ) -> None:
        if self.concurrent_writes:
            self.concurrent_writes.pop(0)()
        stored = self.tasks.get(before.id)
        exists = new_task is not None and new_task.id in self.tasks
        if stored is None or stored.version != before.version or exists:
            raise StaleTaskError(before.id)
        try:
            if subject is not None:
                self.subjects.save(subject)
        except StaleSubjectError as error:
            raise StaleTaskError(before.id) from error
        self.tasks[after.id] = after
        if new_task is not None:
            self.create(new_task)

    def delete(self, task: Task) -> None:
        stored = self.tasks.get(task.id)
        if stored is not None and stored.version != task.version:
            raise StaleTaskError(task.id)
        self.tasks.pop(task.id, None)

    def claim_new(self, task_id: str, run: Run, *, due_at: datetime) -> Task | None:
        if self.concurrent_writes:
            self.concurrent_writes.pop(0)()
        task = self.tasks.get(task_id)
        if task is None or task.run_id == run.id:
            return task
        is_new = task.status is Status.PENDING and lane_of(task) is Lane.NEW_REMINDER
        if not is_new or task.due_at != due_at:
            return None
        self.tasks[task_id] = replace(task, run=run, skipped=None).move_to(Status.IN_PROGRESS)
        return self.tasks[task_id]

    def list_due(
        self, partition: int, *, start: datetime | None, end: datetime
    ) -> Iterator[Dispatch]:
        dispatches = sorted(dispatch_of(task) for task in self._partition(partition))
        return (one for one in dispatches if (start or one.due_at) <= one.due_at < end)

    def list_awaiting_fix(self) -> Iterator[str]:
        return (task.id for task in list(self.tasks.values()) if is_awaiting_fix(task))

    def list_blocked(self, limit: int) -> Sequence[Task]:
        tasks = [task for task in self.tasks.values() if task.status is Status.BLOCKED]
        return sorted(tasks, key=lambda task: (task.blocked_since, task.id))[:limit]

    def list_blocked_before(self, instant: datetime) -> Iterator[str]:
        tasks = [task for task in self.tasks.values() if can_time_out(task)]
        return iter([task.id for task in tasks if task.blocked_since <= instant])

    def list_open(self, owner: Owner) -> Sequence[Task]:
        tasks = [task for task in self.tasks.values() if task.owner == owner]
        return sorted((task for task in tasks if task.is_open), key=lambda task: task.due_at)

    def list_page(
        self, task_filter: TaskFilter, *, limit: int, cursor: str | None, now: datetime
    ) -> TaskPage:
        """Return a page. Its cursor is the id of the last task of the previous page."""
        del now
        key, is_reversed = _listing_order(task_filter)
        tasks = sorted(filter(task_filter.matches, self.tasks.values()), key=key)
        tasks = tasks[::-1] if is_reversed else tasks
        if cursor is not None:
            ids = [task.id for task in tasks]
            if cursor not in ids:
                raise ValueError("is not a cursor of this listing")
            tasks = tasks[ids.index(cursor) + 1 :]
        return TaskPage(tasks[:limit], tasks[limit - 1].id if len(tasks) > limit else None)

    def list_soonest(self, limit: int, lanes: Sequence[Lane] = DUE_LANES) -> Sequence[Task]:
        partitions = partitions_of(lanes, self._shard_count)
        due = [task for partition in partitions for task in self._partition(partition)]
        return sorted(due, key=_due_key)[:limit]

    def list_retries(self, limit: int) -> Sequence[Task]:
        return sorted(filter(is_retry_pending, self.tasks.values()), key=_due_key)[:limit]

    def list_to_verify(self, limit: int) -> Sequence[Task]:
        return sorted(filter(is_awaiting_person, self.tasks.values()), key=_due_key)[:limit]

    def list_latest_due(self, partition: int, limit: int) -> Sequence[datetime]:
        due_times = [task.due_at for task in self._partition(partition)]
        return sorted(due_times, reverse=True)[:limit]

    def count_due(self, partition: int, *, start: datetime, end: datetime, limit: int) -> int:
        found = [task for task in self._partition(partition) if start <= task.due_at < end]
        return min(len(found), limit)

    def _by_id(self) -> list[Task]:
        return sorted(self.tasks.values(), key=lambda task: task.id)

    def _partition(self, partition: int) -> list[Task]:
        """Return the tasks of a partition of the due index."""
        return [
            task
            for task in self.tasks.values()
            if (lane := lane_of(task)) is not None
            and partition_of(lane, shard_of(task.id, self._shard_count), self._shard_count)
            == partition
        ]


def _due_key(task: Task) -> tuple[datetime, str]:
    return task.due_at, task.id


def _listing_order(
    task_filter: TaskFilter,
) -> tuple[Callable[[Task], tuple[datetime, str]], bool]:
    """Return the sort key of the listing, and whether it is in descending order."""
    is_of_sender = task_filter.channel and task_filter.sender_id
    closed = (Status.DELIVERED, Status.COMPLETED, Status.CANCELLED)
    if is_of_sender or task_filter.status is None or task_filter.status in closed:
        return _creation_key, True
    return _due_key, task_filter.status == Status.FAILED


def _creation_key(task: Task) -> tuple[datetime, str]:
    return task.created_at, task.id
