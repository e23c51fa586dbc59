"""Record whether the owner requested a change: quiet hours do not defer such a task."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from duecourse.domain.chat.message import Message
from duecourse.domain.tasks.task import Task

TaskChange = Callable[[Task], Task]


def mark_requested_by(sender: Message, change: TaskChange) -> TaskChange:
    """Return `change`, which also records the owner's request if `sender` is the owner.

    A request by an operator is applied without that record, so quiet hours still hold.
    """

    def apply(task: Task) -> Task:
        after = change(task)
        if task.owner != sender.owner or after.rescheduled_at == task.rescheduled_at:
            return after
        return replace(after, owner_rescheduled_at=after.rescheduled_at)

    return apply
