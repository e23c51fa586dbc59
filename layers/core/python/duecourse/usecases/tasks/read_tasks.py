"""Read many tasks, a batch at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from duecourse.domain.tasks.task import Task
from duecourse.ports.tasks import TaskStore

BATCH_SIZE = 100


def read_tasks(task_ids: Iterable[str], store: TaskStore) -> Iterator[Task]:
    """Yield each task; skip those that are deleted or unreadable.

    Eventually consistent: whoever changes a task relies on its version.
    """
    for batch in read_batches(task_ids, store):
        yield from batch


def read_batches(task_ids: Iterable[str], store: TaskStore) -> Iterator[Sequence[Task]]:
    """Yield the tasks in batches. The ids of the next batch are read only when it is needed."""
    rest = iter(task_ids)
    while batch := list(islice(rest, BATCH_SIZE)):
        yield store.get_many(batch)
