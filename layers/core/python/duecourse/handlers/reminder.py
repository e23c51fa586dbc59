"""A reminder: one message to where it was asked for. Sending it twice is harmless."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from duecourse.domain.chat.buttons import under_reminder
from duecourse.domain.chat.chat_message import Saying
from duecourse.domain.errors import NotSetUpError
from duecourse.domain.tasks.handler import Handler, Work
from duecourse.ports.integrations import Channel


@dataclass(frozen=True)
class ReminderHandler(Handler):
    channels: Mapping[str, Channel]
    repeat_is_harmless = True
    payload_keys = ()

    def mutate(self, work: Work) -> None:
        task = work.task
        channel = self.channels.get(task.channel)
        if channel is None:
            raise NotSetUpError("channel", task.channel)
        said = Saying(f"Reminder: {task.description}", under_reminder(task))
        channel.send(task.reply_target, said, key=work.key)
