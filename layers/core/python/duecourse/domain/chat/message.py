"""An incoming chat message, authenticated by its platform."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from duecourse.domain.tasks.ids import id_for_key
from duecourse.domain.tasks.owner import Owner
from duecourse.domain.time.instant import from_text, to_text

# JSON name -> field name. The JSON names are those of queued messages.
_TEXT_FIELDS = {
    "channel": "channel",
    "sender_id": "sender_id",
    "reply_target": "reply_target",
    "text": "text",
    "key": "dedup_key",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """An incoming chat message.

    - `dedup_key`: the same for every delivery of the message.
    - `sent_at`: when it was sent, or received if the platform does not say.
    - `locale`: the sender's language according to the platform.
    - `is_private`: only the sender sees the reply.
    - `source_chat`: the chat it was written in, if reminders go elsewhere.
    - `team`: the sender's team, on platforms that have them. `pin_team` makes it a part of
      `sender_id`.
    - `private_target`: where only the sender reads, if others read `reply_target` and the reply is
      not for them.
    - `reply_context`: what the channel needs to reply to this message. It may hold short-lived
      credentials, so it is never logged or stored.
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
    team: str | None = None
    private_target: str | None = None
    reply_context: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def owner(self) -> Owner:
        """The owner of tasks that the message creates, and of the tasks the sender may see."""
        return Owner(self.channel, self.sender_id)

    @property
    def task_id(self) -> str:
        """The id of the task that the message creates.

        It is derived from `dedup_key`, so a redelivered message creates no second task.
        """
        return id_for_key(self.channel, self.dedup_key)

    @property
    def chat(self) -> str:
        """The chat it was written in, according to the platform."""
        return self.source_chat or self.reply_target

    @property
    def late_reply_target(self) -> str:
        """Where a reply goes that can no longer use the reply context."""
        return self.private_target or self.reply_target

    def can_show(self, target: str) -> bool:
        """Return True if the reply may show what belongs to the chat `target`."""
        return self.is_private or target == self.reply_target

    def without_reply_context(self) -> Message:
        """Return the message in the form that may be stored.

        A later reply then goes to `late_reply_target`.
        """
        return replace(self, reply_context={})

    def to_json(self) -> dict[str, Any]:
        texts = {name: getattr(self, field) for name, field in _TEXT_FIELDS.items()}
        return texts | {
            "at": to_text(self.sent_at),
            "locale": self.locale,
            "is_private": self.is_private,
            "said_in": self.source_chat,
            "team": self.team,
            "private_target": self.private_target,
            "answer_to": dict(self.reply_context),
        }

    @classmethod
    def from_json(cls, stored: Any) -> Message:
        """Parse a queued message. Raises ValueError if it is invalid."""
        fields = stored if isinstance(stored, Mapping) else {}
        texts = {
            field: fields[name]
            for name, field in _TEXT_FIELDS.items()
            if isinstance(fields.get(name), str)
        }
        answer_to = fields.get("answer_to", {})
        if len(texts) < len(_TEXT_FIELDS) or not isinstance(answer_to, Mapping):
            raise ValueError(f"not a message: needs {', '.join(_TEXT_FIELDS)} and at")
        return cls(
            **texts,
            sent_at=from_text(str(fields.get("at"))),
            locale=text_or_none(fields.get("locale")),
            is_private=fields.get("is_private", True) is True,
            source_chat=text_or_none(fields.get("said_in")),
            team=text_or_none(fields.get("team")),
            private_target=text_or_none(fields.get("private_target")),
            reply_context={str(name): str(value) for name, value in answer_to.items()},
        )


def text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None
