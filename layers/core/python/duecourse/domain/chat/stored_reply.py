"""The reply to a message, and whether it was delivered."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from duecourse.domain.chat.chat_message import ChatMessage
from duecourse.domain.chat.message import Message
from duecourse.domain.text.formatting import format_time

LATE_AFTER = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class StoredReply:
    reply: ChatMessage
    is_delivered: bool = False


def add_late_note(reply: ChatMessage, message: Message, *, now: datetime) -> ChatMessage:
    """Add a note to a reply that comes late: parts of it may be out of date."""
    if now - message.sent_at < LATE_AFTER:
        return reply
    sent = format_time(message.sent_at, "UTC")
    return replace(reply, text=f"{reply.text}\nThis reply is late. You wrote on {sent}.")
