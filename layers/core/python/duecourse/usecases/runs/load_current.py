"""Load the task that a queue message names, if the message is current."""

from __future__ import annotations

from duecourse.domain.dispatch.timing import Dispatch
from duecourse.domain.errors import UnknownTaskError
from duecourse.domain.tasks.task import Task
from duecourse.ports.tasks import TaskStore


def load_if_current(dispatch: Dispatch, store: TaskStore) -> Task | None:
    """Return the task if it is still scheduled for the due time of `dispatch`, else None."""
    try:
        task = store.get(dispatch.task_id)
    except UnknownTaskError:
        return None
    return task if _is_current(task, dispatch) else None


def peek_if_current(dispatch: Dispatch, store: TaskStore) -> Task | None:
    """Return the task after a cheap read, which may be outdated, as `load_if_current` does."""
    task = store.peek(dispatch.task_id)
    return task if task is not None and _is_current(task, dispatch) else None


def _is_current(task: Task, dispatch: Dispatch) -> bool:
    return task.is_scheduled and task.due_at == dispatch.due_at
