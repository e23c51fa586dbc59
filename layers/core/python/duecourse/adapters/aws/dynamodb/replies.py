"""What was answered to a message: an item each, which goes by itself after some days."""

from __future__ import annotations

import hashlib
from datetime import timedelta

from duecourse.adapters.aws.dynamodb.models import StateItem
from duecourse.adapters.aws.dynamodb.state import read_state
from duecourse.domain.chat.chat_message import Saying
from duecourse.domain.chat.message import Message
from duecourse.domain.chat.stored_reply import Answered

KEPT = timedelta(days=3)  # no platform repeats itself for longer


class DynamoAnswers:
    def get(self, message: Message) -> Answered | None:
        return read_state(_key(message), _to_answered)

    def keep(self, message: Message, answered: Answered) -> None:
        stored = {"saying": answered.saying.to_json(), "is_told": answered.is_told}
        expires_at = int((message.at + KEPT).timestamp())
        StateItem(_key(message), value=stored, expires_at=expires_at).save()


def _to_answered(item: StateItem) -> Answered:
    return Answered(Saying.from_json(item.value["saying"]), item.value["is_told"])


def _key(message: Message) -> str:
    """What a platform calls a message may be long, and is nobody's business."""
    named = f"{message.channel}\0{message.key}".encode()
    return f"answer#{hashlib.sha256(named).hexdigest()}"
