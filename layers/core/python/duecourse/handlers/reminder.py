"""Type `reminder`: one message to the task's reply target. Sending it twice is harmless."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from duecourse.domain.chat.buttons import reminder_buttons
from duecourse.domain.chat.chat_message import ChatMessage
from duecourse.domain.errors import NotConfiguredError
from duecourse.domain.tasks.handler import Handler, RunContext

if TYPE_CHECKING:
    from duecourse.ports.integrations import Channel


@dataclass(frozen=True)
class ReminderHandler(Handler):
    channels: Mapping[str, Channel]
    idempotent = True
    payload_keys = ()

    def mutate(self, context: RunContext) -> None:
        task = context.task
        channel = self.channels.get(task.channel)
        if channel is None:
            raise NotConfiguredError("channel", task.channel)
        message = ChatMessage(f"Reminder: {task.description}", reminder_buttons(task))
        channel.send(task.reply_target, message, idempotency_key=context.idempotency_key)
