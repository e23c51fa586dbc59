"""Builders of chat messages."""

from __future__ import annotations

from typing import Any

from duecourse.domain.chat.message import Message

from tests.support.builders.moments import NOW


def a_message(text: str = "/tasks", **fields: Any) -> Message:
    defaults = {"channel": "console", "sender_id": "ada", "reply_target": "ada"}
    return Message(**{**defaults, "dedup_key": "message-1", "sent_at": NOW, **fields}, text=text)
