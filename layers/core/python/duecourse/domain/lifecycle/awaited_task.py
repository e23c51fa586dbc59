"""A blocked task may wait for another task to end. Its `wait` names that task."""

from __future__ import annotations

from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task


def awaited_task_id(task: Task | None) -> str | None:
    """Return the id of the task that the blocked task waits for, else None."""
    if task is None or task.status is not Status.BLOCKED or task.wait is None:
        return None
    return task.wait.task_id


def waiting_task_id(task: Task) -> str | None:
    """Return the id of the task that waits for `task`, or None if `task` was created for none.

    The waiting task may have moved on: `awaited_task_id` says whether it still waits.
    """
    return task.review_of
