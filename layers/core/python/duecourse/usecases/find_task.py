"""The one task that an id, or the beginning of one, stands for."""

from __future__ import annotations

from collections.abc import Callable

from duecourse.domain.errors import AmbiguousIdError, UnknownTaskError
from duecourse.domain.ids import is_id_or_prefix
from duecourse.domain.task import Task
from duecourse.ports import TaskStore


def find_task(
    prefix: str, *, store: TaskStore, visible: Callable[[Task], bool] = lambda _: True
) -> Task:
    """Tasks the caller may not see are as if they did not exist."""
    wanted = prefix.strip().lower()
    found = (
        [task for task in store.find(wanted) if visible(task)] if is_id_or_prefix(wanted) else []
    )
    if len(found) > 1:
        raise AmbiguousIdError(wanted)
    if not found:
        raise UnknownTaskError(prefix[:40])
    return found[0]
