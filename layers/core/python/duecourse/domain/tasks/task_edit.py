"""An edit of a task that has not started."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from duecourse.domain.tasks.task import Task

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Timing:
    """When a task first runs, and how it repeats. `anchor` is `due_at` as wall time of the zone."""

    due_at: datetime
    anchor: datetime
    repeat: str | None
    timezone: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskEdit:
    """The new values. None leaves a field unchanged.

    `rescheduled_at`: when the edit was made, if it changes the time.
    """

    description: str | None = None
    payload: Mapping[str, Any] | None = None
    policy: str | None = None
    max_retries: int | None = None
    timing: Timing | None = None
    rescheduled_at: datetime | None = None

    def apply_to(self, task: Task) -> Task:
        """Return the edited task. A new timing also clears its wait and its retries."""
        task = replace(
            task,
            description=_or_else(self.description, task.description),
            payload=_or_else(self.payload, task.payload),
            policy=_or_else(self.policy, task.policy),
            max_retries=_or_else(self.max_retries, task.max_retries),
            rescheduled_at=_or_else(self.rescheduled_at, task.rescheduled_at),
        )
        if self.timing is None:
            return task
        return replace(
            task,
            due_at=self.timing.due_at,
            nominal_at=self.timing.due_at,
            anchor=self.timing.anchor,
            repeat=self.timing.repeat,
            timezone=self.timing.timezone,
            retry_count=0,
            next_retry_at=None,
            wait=None,
            waiting_since=None,
        )


def _or_else(value: T | None, otherwise: T) -> T:
    return otherwise if value is None else value
