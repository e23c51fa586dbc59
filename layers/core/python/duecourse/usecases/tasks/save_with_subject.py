"""Save a task in one transaction with its subject and a new review it waits for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from duecourse.domain.errors import StaleSubjectError, StaleTaskError
from duecourse.domain.failures.subject import Subject
from duecourse.domain.lifecycle.spec_review import build_new_review
from duecourse.domain.tasks.task import Task
from duecourse.ports.runtime import Backoff
from duecourse.ports.tasks import Subjects, TaskStore
from duecourse.usecases.retry_on_conflict import retry_on_conflict

MAX_ATTEMPTS = 20


class SubjectChange(Protocol):
    """A task and its subject as one transaction saves them; `subject` is None if unchanged."""

    @property
    def task(self) -> Task: ...

    @property
    def subject(self) -> Subject | None: ...


@dataclass(frozen=True)
class TaskWithSubject:
    task: Task
    subject: Subject | None


C = TypeVar("C", bound=SubjectChange)


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
            new_review = build_new_review(task, change.task)
            store.save(task, change.task, subject=change.subject, new_task=new_review)
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
        lambda subject: TaskWithSubject(after, subject.record_success(at=at) if subject else None),
        store=store,
        subjects=subjects,
        backoff=backoff,
    )
