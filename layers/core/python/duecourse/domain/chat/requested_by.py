"""Whose a wish is: what a task's owner asks for themselves comes in their quiet hours, too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from duecourse.domain.chat.message import Message
from duecourse.domain.tasks.task import Task

Wish = Callable[[Task], Task]


def asked_by(sender: Message, wish: Wish) -> Wish:
    """An operator does not speak for an owner who sleeps: their wish is done as it is."""

    def apply(task: Task) -> Task:
        after = wish(task)
        if task.owner != sender.owner or after.asked_at == task.asked_at:
            return after
        return replace(after, owner_asked_at=after.asked_at)

    return apply
