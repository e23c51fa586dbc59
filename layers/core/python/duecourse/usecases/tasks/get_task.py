"""Find the one task that an id or the beginning of an id names."""

from __future__ import annotations

from duecourse.domain.errors import AmbiguousIdError, UnknownTaskError
from duecourse.domain.tasks.ids import is_id_or_prefix
from duecourse.domain.tasks.owner import Owner
from duecourse.domain.tasks.task import Task
from duecourse.ports.tasks import TaskStore


def get_task(id_or_prefix: str, *, store: TaskStore, owner: Owner | None = None) -> Task:
    """Return the task. With `owner`, tasks of other owners do not exist.

    Raises AmbiguousIdError if the prefix fits more than one task, else UnknownTaskError.
    """
    wanted = id_or_prefix.strip().lower()
    found = store.find(wanted, owner=owner) if is_id_or_prefix(wanted) else []
    if len(found) > 1:
        raise AmbiguousIdError(wanted)
    if not found:
        raise UnknownTaskError(id_or_prefix[:40])
    return found[0]
