"""What somebody said in chat, as its platform vouches for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from duecourse.domain.tasks.ids import id_for_key
from duecourse.domain.tasks.owner import Owner
from duecourse.domain.time.instant import from_text, to_text

# The text fields by their JSON names.
_TEXT_FIELDS = {
    "channel": "channel",
    "sender_id": "sender_id",
    "reply_target": "reply_target",
    "text": "text",
    "key": "dedup_key",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """`key` is the same however often the platform delivers the message; `at` is when it was said,
    or, where the platform does not tell, when it came here.

    `locale` is the sender's language as the platform tells it. `answer_to` is what the channel
    needs to answer this very message and nothing else; it may hold what opens doors for a while, so
    it is neither logged nor kept. `is_private`: nobody but the sender sees the answer. `said_in` is
    where it was said, where that is not where reminders go.
    """

    channel: str
    sender_id: str
    reply_target: str
    text: str
    dedup_key: str
    sent_at: datetime
    locale: str | None = None
    is_private: bool = True
    source_chat: str | None = None
    reply_context: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def owner(self) -> Owner:
        """Of what the sender asks for, and of all they may ask about."""
        return Owner(self.channel, self.sender_id)

    @property
    def task_id(self) -> str:
        """Of the task that it makes, if it makes one: so that it can make no second one."""
        return id_for_key(self.channel, self.dedup_key)

    @property
    def chat(self) -> str:
        """Where it was said, as the platform vouches for it."""
        return self.source_chat or self.reply_target

    def can_show(self, target: str) -> bool:
        """Whether what goes to that target may be told here."""
        return self.is_private or target == self.reply_target

    def without_reply_context(self) -> Message:
        """As it may be kept. The answer then goes where the sender's reminders go."""
        return replace(self, reply_context={})

    def to_json(self) -> dict[str, Any]:
        texts = {name: getattr(self, field) for name, field in _TEXT_FIELDS.items()}
        return texts | {
            "at": to_text(self.sent_at),
            "locale": self.locale,
            "is_private": self.is_private,
            "said_in": self.source_chat,
            "answer_to": dict(self.reply_context),
        }

    @classmethod
    def from_json(cls, stored: Any) -> Message:
        """Raises ValueError for what is no message."""
        said = stored if isinstance(stored, Mapping) else {}
        texts = {
            field: said[name]
            for name, field in _TEXT_FIELDS.items()
            if isinstance(said.get(name), str)
        }
        locale, answer_to = said.get("locale"), said.get("answer_to", {})
        said_in = said.get("said_in")
        if len(texts) < len(_TEXT_FIELDS) or not isinstance(answer_to, Mapping):
            raise ValueError(f"not a message: needs {', '.join(_TEXT_FIELDS)} and at")
        return cls(
            **texts,
            sent_at=from_text(str(said.get("at"))),
            locale=locale if isinstance(locale, str) else None,
            is_private=said.get("is_private", True) is True,
            source_chat=said_in if isinstance(said_in, str) else None,
            reply_context={str(name): str(value) for name, value in answer_to.items()},
        )
