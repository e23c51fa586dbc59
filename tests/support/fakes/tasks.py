"""Tasks and subjects in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from duecourse.domain.dispatch.timing import Dispatch
from duecourse.domain.errors import StaleSubjectError, StaleTaskError, UnknownTaskError
from duecourse.domain.failures.subject import Subject
from duecourse.domain.lifecycle.blocked import can_time_out, is_awaiting_fix
from duecourse.domain.lifecycle.retry_throttle import RetryLane, retry_lane
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
        self.concurrent_writes: list[Callable[[], object]] = []
        self.ended_runs: dict[str, Run] = {}
        self._shard_count = shard_count

    def create(self, task: Task) -> Task:
        return self.tasks.setdefault(task.id, task)

    def get(self, task_id: str) -> Task:
        if task_id not in self.tasks:
            raise UnknownTaskError(task_id)
        return self.tasks[task_id]

    def find(self, prefix: str, *, owner: Owner | None = None) -> Sequence[Task]:
        tasks = [task for task in self._by_id() if task.id.startswith(prefix)]
        return [task for task in tasks if owner in (None, task.owner)]

    def save(
        self,
        before: Task,
        after: Task,
        *,
        subject: Subject | None = None,
        ended_run: Run | None = None,
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
        if ended_run is not None:
            self.ended_runs[ended_run.id] = ended_run
        if new_task is not None:
            self.create(new_task)

    def list_due(self, shard: int, *, start: datetime | None, end: datetime) -> Iterator[Dispatch]:
        dispatches = sorted(Dispatch(task.due_at, task.id) for task in self._scheduled(shard))
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

    def list_page(self, task_filter: TaskFilter, *, limit: int, cursor: str | None) -> TaskPage:
        """Return a page. Its cursor is the id of the last task of the previous page."""
        newest = sorted(self.tasks.values(), key=_creation_key, reverse=True)
        if cursor is not None:
            if cursor not in self.tasks:
                raise ValueError("is not a cursor of this listing")
            last = _creation_key(self.tasks[cursor])
            newest = [task for task in newest if _creation_key(task) < last]
        tasks = [task for task in newest if task_filter.matches(task)]
        return TaskPage(tasks[:limit], tasks[limit - 1].id if len(tasks) > limit else None)

    def list_soonest(self, limit: int) -> Sequence[Task]:
        scheduled = [task for shard in range(self._shard_count) for task in self._scheduled(shard)]
        return sorted(scheduled, key=lambda task: (task.due_at, task.id))[:limit]

    def list_retries(self, limit: int) -> Sequence[Task]:
        waiting = [task for task in self.tasks.values() if retry_lane(task)]
        return sorted(waiting, key=lambda task: (task.next_retry_at or task.due_at, task.id))[
            :limit
        ]

    def list_to_verify(self, limit: int) -> Sequence[Task]:
        tasks = [task for task in self.tasks.values() if is_awaiting_person(task)]
        return sorted(tasks, key=lambda task: (task.due_at, task.id))[:limit]

    def list_latest_retry_times(self, limit: int) -> Sequence[datetime]:
        soon = [task for task in self.tasks.values() if retry_lane(task) is RetryLane.SOON]
        return sorted((task.next_retry_at or task.due_at for task in soon), reverse=True)[:limit]

    def _by_id(self) -> list[Task]:
        return sorted(self.tasks.values(), key=lambda task: task.id)

    def _scheduled(self, shard: int) -> list[Task]:
        """Return the tasks of the shard that run or are scheduled."""
        return [
            task
            for task in self.tasks.values()
            if shard_of(task.id, self._shard_count) == shard
            and (task.is_scheduled or task.status is Status.IN_PROGRESS)
        ]


def _creation_key(task: Task) -> tuple[datetime, str]:
    return task.created_at, task.id
