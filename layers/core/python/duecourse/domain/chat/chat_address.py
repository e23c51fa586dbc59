"""A chat on a channel, by the name that a setting gives it: `slack:C0123`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duecourse.domain.chat.message import Message


def is_place(text: str) -> bool:
    channel, _, target = text.partition(":")
    return bool(channel and target)


@dataclass(frozen=True, slots=True)
class Place:
    """`target` is what the channel sends to. What is said in a thread or topic of it is said
    there."""

    channel: str
    target: str

    @classmethod
    def from_text(cls, text: str) -> Place:
        """Raises ValueError for what names none."""
        if not is_place(text.strip()):
            raise ValueError(f"{text!r} is no chat: name it as channel:target, such as slack:C0123")
        channel, _, target = text.strip().partition(":")
        return cls(channel, target)

    def has(self, message: Message) -> bool:
        """Whether it was said here. That only the sender reads along does not make it so."""
        where = message.place
        is_in_it = where == self.target or where.startswith(f"{self.target}:")
        return message.channel == self.channel and is_in_it

    def __str__(self) -> str:
        return f"{self.channel}:{self.target}"
