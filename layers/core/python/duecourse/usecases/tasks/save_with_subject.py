"""Save a task in one transaction with its subject and a new review it waits for."""

from __future__ import annotations

from collections.abc import Callable

from duecourse.domain.errors import StaleTaskError
from duecourse.domain.failures.subject import Subject
from duecourse.domain.lifecycle.spec_review import build_new_review
from duecourse.domain.tasks.task import Task
from duecourse.ports.runtime import Backoff
from duecourse.ports.tasks import Subjects, TaskStore

MAX_ATTEMPTS = 20


def save_with_subject(
    task: Task,
    transition: Callable[[Subject | None], tuple[Task, Subject | None]],
    *,
    store: TaskStore,
    subjects: Subjects,
    backoff: Backoff,
) -> Task:
    """Apply `transition` to the subject and save both. Retry if only the subject has changed.

    Each retry waits and calls `transition` with the current subject. Raises StaleTaskError if the
    task itself has changed.
    """
    for tries in range(1, MAX_ATTEMPTS + 1):
        subject = subjects.get(task.subject) if task.subject else None
        after, subject_after = transition(subject)
        try:
            store.save(task, after, subject=subject_after, new_task=build_new_review(task, after))
        except StaleTaskError:
            if task.subject is None or store.get(task.id) != task:
                raise
            backoff(tries)
            continue
        return after
    raise StaleTaskError(task.id)
