"""Save a task together with the subject it works on, and the review that it waits for."""

from __future__ import annotations

from collections.abc import Callable

from duecourse.domain.errors import StaleTaskError
from duecourse.domain.failures.subject import Subject
from duecourse.domain.lifecycle.spec_review import review_made
from duecourse.domain.tasks.task import Task
from duecourse.ports.runtime import Pause
from duecourse.ports.tasks import Subjects, TaskStore

TRIES = 20


def settle(
    task: Task,
    change: Callable[[Subject | None], tuple[Task, Subject | None]],
    *,
    store: TaskStore,
    subjects: Subjects,
    pause: Pause,
) -> Task:
    """A race lost on the subject alone is decided anew, after a pause, on what is there now.

    Raises StaleTaskError where the task itself is no longer as it was.
    """
    for tries in range(1, TRIES + 1):
        subject = subjects.get(task.subject) if task.subject else None
        after, subject_after = change(subject)
        try:
            store.save(task, after, subject=subject_after, made=review_made(task, after))
        except StaleTaskError:
            if task.subject is None or store.get(task.id) != task:
                raise
            pause(tries)
            continue
        return after
    raise StaleTaskError(task.id)
