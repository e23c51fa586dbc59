"""A reminder: one message to where it was asked for. Sending it twice is harmless."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from duecourse.domain.task import Task
from duecourse.ports import Channel


@dataclass(frozen=True)
class ReminderHandler:
    channels: Mapping[str, Channel]

    def mutate(self, task: Task, *, key: str) -> None:
        channel = self.channels.get(task.channel)
        if channel is None:
            raise LookupError(f"the channel {task.channel} is not set up here")
        channel.send(task.reply_target, f"Reminder: {task.description}", key=key)
