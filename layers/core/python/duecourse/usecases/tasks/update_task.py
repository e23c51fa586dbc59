"""Apply a person's change to a task and save it with a version condition."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from duecourse.domain.errors import StaleTaskError
from duecourse.domain.tasks.task import Task
from duecourse.ports.queues import WorkQueue
from duecourse.ports.tasks import TaskStore
from duecourse.usecases.retry_on_conflict import retry_on_conflict
from duecourse.usecases.tasks.enqueue_if_due_soon import enqueue_if_due_soon

MAX_ATTEMPTS = 3


def update_task(
    task: Task,
    transition: Callable[[Task], Task],
    *,
    store: TaskStore,
    queue: WorkQueue,
    now: datetime,
) -> Task:
    """Apply `transition` and save, retrying on conflicts with the current task.

    If `transition` returns its argument, nothing is written. Raises StaleTaskError after repeated
    conflicts.
    """

    def save(attempt: int) -> Task:
        current = task if attempt == 1 else store.get(task.id)
        after = transition(current)
        if after is not current:
            store.save(current, after)
        return after

    saved = retry_on_conflict(save, conflict=StaleTaskError, max_attempts=MAX_ATTEMPTS)
    enqueue_if_due_soon(saved, queue=queue, now=now)
    return saved
