"""What was answered to a message: an item each, which goes by itself after some days."""

from __future__ import annotations

import hashlib
from datetime import timedelta

from duecourse.adapters.aws.dynamodb.models import StateItem
from duecourse.adapters.aws.dynamodb.state import read_state
from duecourse.domain.chat.chat_message import ChatMessage
from duecourse.domain.chat.message import Message
from duecourse.domain.chat.stored_reply import StoredReply

RETENTION = timedelta(days=3)  # no platform repeats itself for longer


class DynamoReplyStore:
    def get(self, message: Message) -> StoredReply | None:
        return read_state(_key(message), _to_answered)

    def save(self, message: Message, reply: StoredReply) -> None:
        stored = {"saying": reply.reply.to_json(), "is_told": reply.is_delivered}
        expires_at = int((message.sent_at + RETENTION).timestamp())
        StateItem(_key(message), value=stored, expires_at=expires_at).save()


def _to_answered(item: StateItem) -> StoredReply:
    return StoredReply(ChatMessage.from_json(item.value["saying"]), item.value["is_told"])


def _key(message: Message) -> str:
    """What a platform calls a message may be long, and is nobody's business."""
    named = f"{message.channel}\0{message.dedup_key}".encode()
    return f"answer#{hashlib.sha256(named).hexdigest()}"
