"""The address of a chat as settings name it: `slack:C0123`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duecourse.domain.chat.message import Message


def is_chat_address(text: str) -> bool:
    channel, _, target = text.partition(":")
    return bool(channel and target)


@dataclass(frozen=True, slots=True)
class ChatAddress:
    """`target` is where the channel sends to. Its threads and topics belong to the same chat."""

    channel: str
    target: str

    @classmethod
    def from_text(cls, text: str) -> ChatAddress:
        """Parse `channel:target`. Raises ValueError if either part is missing."""
        if not is_chat_address(text.strip()):
            raise ValueError(f"{text!r} is no chat: name it as channel:target, such as slack:C0123")
        channel, _, target = text.strip().partition(":")
        return cls(channel, target)

    def contains(self, message: Message) -> bool:
        """Return True if the message was written in this chat or one of its threads."""
        where = message.chat
        is_in_it = where == self.target or where.startswith(f"{self.target}:")
        return message.channel == self.channel and is_in_it

    def __str__(self) -> str:
        return f"{self.channel}:{self.target}"
