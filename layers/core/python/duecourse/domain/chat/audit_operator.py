"""Audit log entries for changes that operators make in chat to other people's tasks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote

from duecourse.domain.chat.message import Message
from duecourse.domain.text.redaction import truncate_middle
from duecourse.domain.time.instant import to_text

LOG_PREFIX = "[CHAT]"
_NAME_LIMIT = 150


@dataclass(frozen=True, kw_only=True, slots=True)
class OperatorChange:
    """A change made from the operators' chat.

    `actor` and `chat` are written as `slack:U123`. The message's text is not stored. `id` is
    derived from the message, so a message that is processed twice makes one entry.
    """

    id: str
    at: datetime
    actor: str
    chat: str
    command: str
    task_id: str

    @classmethod
    def from_message(cls, message: Message, command: str, *, task_id: str) -> OperatorChange:
        return cls(
            id=message.task_id,
            at=message.sent_at,
            actor=f"{message.channel}:{message.sender_id}",
            chat=f"{message.channel}:{message.chat}",
            command=command,
            task_id=task_id,
        )

    @property
    def text(self) -> str:
        """The entry as one line for the log."""
        who = f"by={_escape(self.actor)} in={_escape(self.chat)}"
        return f"{LOG_PREFIX} {who} {self.command} task={self.task_id}"

    def to_json(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "at": to_text(self.at),
            "by": _escape(self.actor),
            "place": _escape(self.chat),
            "command": self.command,
            "task_id": self.task_id,
        }


def _escape(name: str) -> str:
    """URL-encode the name: without spaces and line breaks it cannot forge a log entry."""
    return truncate_middle(quote(name, safe=":"), _NAME_LIMIT)
