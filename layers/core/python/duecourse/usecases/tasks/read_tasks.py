"""Read many tasks one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from duecourse.domain.errors import UnknownTaskError, UnreadableItemError
from duecourse.domain.tasks.task import Task
from duecourse.ports.tasks import TaskStore


def read_tasks(task_ids: Iterable[str], store: TaskStore) -> Iterator[Task]:
    """Yield each task (strongly consistent); skip those that are deleted or unreadable.

    The store sets unreadable items aside, so they do not stop the others.
    """
    for task_id in task_ids:
        try:
            task = store.get(task_id)
        except (UnknownTaskError, UnreadableItemError):
            continue
        yield task
