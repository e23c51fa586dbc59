"""Save a task in one transaction with its subject and a new task that it waits for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from duecourse.domain.errors import StaleSubjectError, StaleTaskError
from duecourse.domain.tasks.task import Task
from duecourse.usecases.retry_on_conflict import retry_on_conflict

if TYPE_CHECKING:
    from duecourse.domain.failures.subject import Subject
    from duecourse.ports.runtime import Backoff
    from duecourse.ports.tasks import Subjects, TaskStore

MAX_ATTEMPTS = 20


@dataclass(frozen=True)
class TaskChange:
    """What one transaction writes. `subject` is None if unchanged.

    `new_task` is created by the same transaction; the changed task waits for it.
    """

    task: Task
    subject: Subject | None = None
    new_task: Task | None = None

    @property
    def next_task(self) -> Task:
        """Return the new task if there is one, else the changed task."""
        return self.new_task or self.task


C = TypeVar("C", bound=TaskChange)


def save_with_subject(
    task: Task,
    transition: Callable[[Subject | None], C],
    *,
    store: TaskStore,
    subjects: Subjects,
    backoff: Backoff,
) -> C:
    """Apply `transition` to the subject, save both and return the saved change.

    If only the subject has changed meanwhile, wait and apply `transition` to the current subject.
    Raises StaleTaskError if the task itself has changed, or after repeated conflicts.
    """

    def save(_: int) -> C:
        change = transition(subjects.get(task.subject) if task.subject else None)
        try:
            store.save(task, change.task, subject=change.subject, new_task=change.new_task)
        except StaleTaskError as error:
            if task.subject is None or store.get(task.id) != task:
                raise
            raise StaleSubjectError(task.subject) from error
        return change

    try:
        return retry_on_conflict(
            save, conflict=StaleSubjectError, max_attempts=MAX_ATTEMPTS, backoff=backoff
        )
    except StaleSubjectError as error:
        raise StaleTaskError(task.id) from error


def save_success(
    before: Task,
    after: Task,
    *,
    store: TaskStore,
    subjects: Subjects,
    backoff: Backoff,
    at: datetime,
) -> None:
    """Save `after`, whose work succeeded, and record the success of its subject."""
    save_with_subject(
        before,
        lambda subject: TaskChange(after, subject.record_success(at=at) if subject else None),
        store=store,
        subjects=subjects,
        backoff=backoff,
    )
