"""Apply a person's change to a task and save it with a version condition."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from duecourse.domain.errors import StaleTaskError
from duecourse.domain.tasks.task import Task
from duecourse.ports.queues import WorkQueue
from duecourse.ports.tasks import TaskStore
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
    for _ in range(MAX_ATTEMPTS):
        after = transition(task)
        try:
            if after is not task:
                store.save(task, after)
        except StaleTaskError:
            task = store.get(task.id)
            continue
        enqueue_if_due_soon(after, queue=queue, now=now)
        return after
    raise StaleTaskError(task.id)
