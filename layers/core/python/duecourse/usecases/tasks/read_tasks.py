"""Reads one task after the other, for those who walk over many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from duecourse.domain.errors import UnknownTaskError, UnreadableItemError
from duecourse.domain.tasks.task import Task
from duecourse.ports.tasks import TaskStore


def read_tasks(task_ids: Iterable[str], store: TaskStore) -> Iterator[Task]:
    """Yield each task as last written, but none that aged out or that cannot be read.

    The store sets aside what cannot be read: it must not keep the others waiting.
    """
    for task_id in task_ids:
        try:
            task = store.get(task_id)
        except (UnknownTaskError, UnreadableItemError):
            continue
        yield task
