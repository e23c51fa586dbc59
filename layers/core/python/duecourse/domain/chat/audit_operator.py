"""Who changed somebody else's task from the operators' chat, for the audit log."""

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
    """`by` is who said it and `place` where, each as `slack:U123`. Nothing else of what they said
    is kept. `id` is the message's: however often it is taken up, it is one entry."""

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
        """One line for people and for grep."""
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
    """As in an address, where no blank and no end of a line could forge another entry."""
    return truncate_middle(quote(name, safe=":"), _NAME_LIMIT)
