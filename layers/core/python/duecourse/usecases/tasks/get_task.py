"""Find a task by its id or a unique prefix of it."""

from __future__ import annotations

from duecourse.domain.errors import AmbiguousIdError, UnknownTaskError
from duecourse.domain.tasks.ids import is_id_or_prefix
from duecourse.domain.tasks.owner import Owner
from duecourse.domain.tasks.task import Task
from duecourse.ports.tasks import TaskStore


def get_task(id_or_prefix: str, *, store: TaskStore, owner: Owner | None = None) -> Task:
    """Return the task. With `owner`, tasks of other owners do not exist.

    Raises AmbiguousIdError if the prefix matches more than one task, else UnknownTaskError.
    """
    prefix = id_or_prefix.strip().lower()
    tasks = store.find(prefix, owner=owner) if is_id_or_prefix(prefix) else []
    if len(tasks) > 1:
        raise AmbiguousIdError(prefix)
    if not tasks:
        raise UnknownTaskError(id_or_prefix[:40])
    return tasks[0]
