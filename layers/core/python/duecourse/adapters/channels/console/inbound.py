"""The console's messages: `{"sender_id", "reply_target", "text"}`. Nobody proves anything there."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from duecourse.adapters.channels.console import NAME
from duecourse.adapters.channels.inbound import Heard
from duecourse.adapters.http.json_reader import TEXT_LIMIT
from duecourse.adapters.http.raw_request import RawRequest
from duecourse.domain.chat.message import Message
from duecourse.domain.requests.task_request import NAME_LIMIT
from duecourse.domain.validation.fields import Fields, text


class ConsoleIncoming:
    def __init__(self, new_id: Callable[[], str]) -> None:
        self._new_id = new_id

    def hear(self, request: RawRequest, *, now: datetime) -> Heard:
        fields = Fields(request.json_object(), known={"sender_id", "reply_target", "text"})
        for name in ("sender_id", "text"):
            if not fields.has(name):
                fields.refuse(name, "is required")
        sender_id = fields.read("sender_id", text(NAME_LIMIT), "")
        reply_target = fields.read("reply_target", text(NAME_LIMIT), sender_id)
        words = fields.read("text", text(TEXT_LIMIT), "")
        fields.check()
        message = Message(
            channel=NAME,
            sender_id=sender_id,
            reply_target=reply_target,
            text=words,
            key=self._new_id(),
            at=now,
        )
        return Heard(message, {"status": "heard"})
