"""Parse console messages, `{"sender_id", "reply_target", "text"}`, without verification."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from duecourse.adapters.channels.console import NAME
from duecourse.adapters.channels.inbound import InboundResult
from duecourse.adapters.http.json_reader import TEXT_LIMIT
from duecourse.adapters.http.raw_request import RawRequest
from duecourse.domain.chat.message import Message
from duecourse.domain.requests.task_fields import NAME_LIMIT
from duecourse.domain.validation.fields import Fields, text_field


class ConsoleInboundParser:
    def __init__(self, new_id: Callable[[], str]) -> None:
        self._new_id = new_id

    def parse(self, request: RawRequest, *, now: datetime) -> InboundResult:
        fields = Fields(request.json_object(), allowed={"sender_id", "reply_target", "text"})
        for name in ("sender_id", "text"):
            if not fields.has(name):
                fields.add_error(name, "is required")
        sender_id = fields.read("sender_id", text_field(NAME_LIMIT), "")
        reply_target = fields.read("reply_target", text_field(NAME_LIMIT), sender_id)
        words = fields.read("text", text_field(TEXT_LIMIT), "")
        fields.raise_if_invalid()
        message = Message(
            channel=NAME,
            sender_id=sender_id,
            reply_target=reply_target,
            text=words,
            dedup_key=self._new_id(),
            sent_at=now,
        )
        return InboundResult(message, {"status": "accepted"})
