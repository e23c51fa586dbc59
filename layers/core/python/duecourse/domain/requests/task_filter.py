"""The filter of a task listing."""

from __future__ import annotations

from dataclasses import dataclass

from duecourse.domain.tasks.task import Task


@dataclass(frozen=True)
class TaskFilter:
    """A filter of tasks. An empty field matches everything.

    `category` is that of the last error. `search` matches part of the description, or the start of
    the id or subject, ignoring case.
    """

    channel: str | None = None
    sender_id: str | None = None
    status: str | None = None
    type: str | None = None
    category: str | None = None
    search: str | None = None

    def matches(self, task: Task) -> bool:
        pairs = [
            (self.channel, task.channel),
            (self.sender_id, task.sender_id),
            (self.status, task.status),
            (self.type, task.type),
            (self.category, task.last_error_category),
        ]
        is_match = all(expected in (None, actual) for expected, actual in pairs)
        return is_match and (self.search is None or _is_search_match(task, self.search))


def _is_search_match(task: Task, search: str) -> bool:
    text = search.strip().casefold()
    names = (task.id, (task.subject or "").casefold())
    return text in task.description.casefold() or any(name.startswith(text) for name in names)
