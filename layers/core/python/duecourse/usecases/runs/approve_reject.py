"""Say whether work was done well, and write down what follows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from duecourse.domain.errors import StaleTaskError
from duecourse.domain.failures.subject import Subject
from duecourse.domain.lifecycle.verification import approved, rejection
from duecourse.domain.tasks.task import Task
from duecourse.ports.queues import WorkQueue
from duecourse.ports.runtime import Pause
from duecourse.ports.tasks import Subjects, TaskStore
from duecourse.usecases.failures.record_failure import Recorder, record_failure
from duecourse.usecases.tasks.enqueue_if_due_soon import send_if_soon
from duecourse.usecases.tasks.save_with_subject import settle


@dataclass(frozen=True)
class VerdictBook:
    """Where a verdict is written down."""

    store: TaskStore
    subjects: Subjects
    queue: WorkQueue
    pause: Pause = lambda _: None


def approve_task(task: Task, book: VerdictBook, *, at: datetime) -> Task:
    """Raises RefusedError where nothing waits for a verdict, StaleTaskError after a lost race."""

    def change(subject: Subject | None) -> tuple[Task, Subject | None]:
        return approved(task, at=at), subject.succeeded(at=at) if subject else None

    after = settle(task, change, store=book.store, subjects=book.subjects, pause=book.pause)
    send_if_soon(after, queue=book.queue, now=at)
    return after


def reject_task(task: Task, reason: str, recorder: Recorder, *, at: datetime) -> Task:
    """Raises RefusedError where nothing waits for a verdict, StaleTaskError after a lost race."""
    recorded = record_failure(rejection(task, reason, at=at), recorder)
    if recorded is None:
        raise StaleTaskError(task.id)
    return recorded.task
