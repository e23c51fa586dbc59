"""Replies that were sent to chat messages: one item each, removed by its TTL after three days."""

from __future__ import annotations

import hashlib
from datetime import timedelta

from duecourse.adapters.aws.dynamodb.models import StateItem
from duecourse.adapters.aws.dynamodb.state import read_state
from duecourse.domain.chat.chat_message import ChatMessage
from duecourse.domain.chat.message import Message
from duecourse.domain.chat.stored_reply import StoredReply

RETENTION = timedelta(days=3)  # no platform redelivers a message for longer


class DynamoReplyStore:
    def get(self, message: Message) -> StoredReply | None:
        return read_state(_key(message), _to_reply)

    def save(self, message: Message, reply: StoredReply) -> None:
        stored = {"saying": reply.reply.to_json(), "is_told": reply.is_delivered}
        expires_at = int((message.sent_at + RETENTION).timestamp())
        StateItem(_key(message), value=stored, expires_at=expires_at).save()


def _to_reply(item: StateItem) -> StoredReply:
    return StoredReply(ChatMessage.from_json(item.value["saying"]), item.value["is_told"])


def _key(message: Message) -> str:
    """Return the item key. Platform message ids are hashed: they may be long, and are private."""
    named = f"{message.channel}\0{message.dedup_key}".encode()
    return f"answer#{hashlib.sha256(named).hexdigest()}"
