"""Whose a wish is: what a task's owner asks for themselves comes in their quiet hours, too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from duecourse.domain.chat.message import Message
from duecourse.domain.tasks.task import Task

TaskChange = Callable[[Task], Task]


def mark_requested_by(sender: Message, change: TaskChange) -> TaskChange:
    """An operator does not speak for an owner who sleeps: their wish is done as it is."""

    def apply(task: Task) -> Task:
        after = change(task)
        if task.owner != sender.owner or after.rescheduled_at == task.rescheduled_at:
            return after
        return replace(after, owner_rescheduled_at=after.rescheduled_at)

    return apply
