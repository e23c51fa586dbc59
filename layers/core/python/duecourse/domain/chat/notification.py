"""A notification for a person, as it is queued."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from duecourse.domain.chat.chat_message import ChatMessage
from duecourse.domain.chat.message import Message, text_or_none
from duecourse.domain.chat.notification_kind import NotificationKind
from duecourse.domain.tasks.owner import Owner
from duecourse.domain.time.instant import to_text_or_none
from duecourse.domain.validation.stored_fields import StoredFields

_TEXT_FIELDS = ("channel", "target", "text", "key", "task_id")


@dataclass(frozen=True, kw_only=True, slots=True)
class Notification:
    """A notification for the task's owner or for operators.

    `idempotency_key` is the same for every delivery, so that a channel can drop duplicates.
    `sender_id` is the task's owner, whose notify level and quiet hours apply; without it the
    notification is delivered at once. `owner_requested_at` is when the owner requested the run,
    `run_id` the run it reports. `reply_to` is the message that it replies to, if it is a reply.
    `waiting_since` is when its channel was first found to have no valid token, `changed_at` when
    the change that it reports was written.
    """

    channel: str
    target: str
    message: ChatMessage
    idempotency_key: str
    task_id: str
    kind: NotificationKind = NotificationKind.OTHER
    sender_id: str | None = None
    owner_requested_at: datetime | None = None
    run_id: str | None = None
    reply_to: Message | None = None
    waiting_since: datetime | None = None
    changed_at: datetime | None = None

    @property
    def owner(self) -> Owner | None:
        return None if self.sender_id is None else Owner(self.channel, self.sender_id)

    def wait(self, *, now: datetime) -> Notification:
        """Return the notification as it waits for its channel."""
        return replace(self, waiting_since=self.waiting_since or now)

    def without_reply_context(self) -> Notification:
        """Return the notification in the form that may be stored."""
        reply_to = self.reply_to.without_reply_context() if self.reply_to else None
        return replace(self, reply_to=reply_to)

    def to_json(self) -> dict[str, Any]:
        """Return the queued form. The message's fields are inlined, as in older versions."""
        required = {
            "channel": self.channel,
            "target": self.target,
            "key": self.idempotency_key,
            "task_id": self.task_id,
            "kind": str(self.kind),
        }
        optional = {
            "sender_id": self.sender_id,
            "wanted_at": to_text_or_none(self.owner_requested_at),
            "run_id": self.run_id,
            "reply_to": self.reply_to.to_json() if self.reply_to else None,
            "waiting_since": to_text_or_none(self.waiting_since),
            "changed_at": to_text_or_none(self.changed_at),
        }
        present = {name: value for name, value in optional.items() if value is not None}
        return required | present | self.message.to_json()

    @classmethod
    def from_json(cls, stored: Any) -> Notification:
        """Parse a queued notification. Raises ValueError if it is invalid.

        Older ones may lack buttons. Without a known kind it is delivered at every notify level.
        """
        fields = stored if isinstance(stored, Mapping) else {}
        texts = {name: fields[name] for name in _TEXT_FIELDS if isinstance(fields.get(name), str)}
        if len(texts) < len(_TEXT_FIELDS) or not all(texts.values()):
            raise ValueError(f"not a notification: needs {', '.join(_TEXT_FIELDS)}")
        return cls(
            channel=texts["channel"],
            target=texts["target"],
            idempotency_key=texts["key"],
            task_id=texts["task_id"],
            message=ChatMessage.from_json(fields),
            kind=_parse_kind(fields.get("kind")),
            sender_id=text_or_none(fields.get("sender_id")),
            owner_requested_at=StoredFields.of(fields).instant("wanted_at"),
            run_id=text_or_none(fields.get("run_id")),
            waiting_since=StoredFields.of(fields).instant("waiting_since"),
            changed_at=StoredFields.of(fields).instant("changed_at"),
            reply_to=Message.from_json(fields["reply_to"]) if fields.get("reply_to") else None,
        )


def _parse_kind(stored: Any) -> NotificationKind:
    try:
        return NotificationKind(stored)
    except ValueError:
        return NotificationKind.OTHER
