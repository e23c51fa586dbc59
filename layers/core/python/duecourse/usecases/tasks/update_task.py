"""Let a person's wish change a task, and save it against the version that was read."""

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
    """A change that lost a race is decided anew on what is there now, a few times.

    `change` may return the task it was given: then nothing is written.
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
