"""The ports in memory, as small as the guarantees that the use cases rely on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime

from duecourse.domain.breaker_panel import Panel, StaleBreakersError
from duecourse.domain.dispatch import Dispatch
from duecourse.domain.errors import StaleSubjectError, StaleTaskError, UnknownTaskError
from duecourse.domain.history import Event
from duecourse.domain.pending_retries import Lane, retry_lane
from duecourse.domain.report import FailureReport
from duecourse.domain.subject import Subject
from duecourse.domain.task import Task
from duecourse.ports import Filter, Page


class ManualClock:
    def __init__(self, now: datetime) -> None:
        self.at = now

    def now(self) -> datetime:
        return self.at

    def sleep_until(self, instant: datetime) -> None:
        self.at = max(self.at, instant)


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
    """`rivals` are called one by one, each just before a save: somebody else was faster."""

    def __init__(self, *tasks: Task, subjects: MemorySubjects | None = None) -> None:
        self.tasks = {task.id: task for task in tasks}
        self.subjects = MemorySubjects() if subjects is None else subjects
        self.rivals: list[Callable[[], object]] = []

    def create(self, task: Task) -> Task:
        return self.tasks.setdefault(task.id, task)

    def get(self, task_id: str) -> Task:
        if task_id not in self.tasks:
            raise UnknownTaskError(task_id)
        return self.tasks[task_id]

    def find(self, prefix: str) -> Sequence[Task]:
        return [task for task in self.tasks.values() if task.id.startswith(prefix)]

    def save(self, before: Task, after: Task, *, subject: Subject | None = None) -> None:
        if self.rivals:
            self.rivals.pop(0)()
        if self.get(before.id).version != before.version:
            raise StaleTaskError(before.id)
        try:
            if subject is not None:
                self.subjects.save(subject)
        except StaleSubjectError as error:
            raise StaleTaskError(before.id) from error
        self.tasks[after.id] = after

    def due(self, shard: int, *, start: datetime | None, end: datetime) -> Iterator[Dispatch]:
        open_ones = [task for task in self.tasks.values() if task.is_open and shard == 0]
        found = sorted(Dispatch(task.due_at, task.id) for task in open_ones)
        return (one for one in found if (start or one.due_at) <= one.due_at < end)

    def open_of(self, channel: str, sender_id: str) -> Sequence[Task]:
        return [task for task in self.tasks.values() if task.belongs_to(channel, sender_id)]

    def page(self, wanted: Filter, *, limit: int, cursor: str | None) -> Page:  # noqa: ARG002
        return Page([task for task in self.tasks.values() if wanted.matches(task)][:limit], None)

    def retries(self, limit: int) -> Sequence[Task]:
        return [task for task in self.tasks.values() if retry_lane(task)][:limit]

    def latest_retries(self, limit: int) -> Sequence[datetime]:
        soon = [task for task in self.tasks.values() if retry_lane(task) is Lane.SOON]
        return sorted((task.due_at for task in soon), reverse=True)[:limit]


class ListQueue(list[Dispatch]):
    def send(self, dispatches: Iterable[Dispatch], *, now: datetime) -> int:  # noqa: ARG002
        before = len(self)
        self.extend(dispatches)
        return len(self) - before


class ListFailures(list[FailureReport]):
    def send(self, report: FailureReport) -> None:
        self.append(report)


class MemoryBreakers:
    def __init__(self) -> None:
        self.panel = Panel()

    def load(self) -> Panel:
        return self.panel

    def save(self, before: Panel, after: Panel, event: Event | None) -> None:  # noqa: ARG002
        if self.panel.version != before.version:
            raise StaleBreakersError
        self.panel = after
