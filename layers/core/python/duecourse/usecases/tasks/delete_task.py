"""Delete a task that has ended, with its history."""

from __future__ import annotations

from typing import TYPE_CHECKING

from duecourse.domain.errors import InvalidStateError

if TYPE_CHECKING:
    from duecourse.domain.tasks.task import Task
    from duecourse.ports.tasks import TaskStore


def delete_task(task: Task, store: TaskStore) -> None:
    """Delete the task. The journal erases its history as soon as it sees the deletion.

    Raises InvalidStateError if the task is open: cancel it first. Raises StaleTaskError if it has
    changed since it was read.
    """
    if task.is_open:
        raise InvalidStateError(f"the task is {task.status}: cancel it first")
    store.delete(task)
