"""The console's messages: `{"sender_id", "reply_target", "text"}`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from duecourse.adapters.http.json_body import read_event
from duecourse.domain.fields import Fields, text
from duecourse.domain.request import NAME_LIMIT
from duecourse.usecases.answer_command import Sender

TEXT_LIMIT = 8_000


def read_message(event: Mapping[str, Any]) -> tuple[Sender, str]:
    fields = Fields(read_event(event), known={"sender_id", "reply_target", "text"})
    for name in ("sender_id", "text"):
        if not fields.has(name):
            fields.refuse(name, "is required")
    sender_id = fields.read("sender_id", text(NAME_LIMIT), "")
    reply_target = fields.read("reply_target", text(NAME_LIMIT), sender_id)
    words = fields.read("text", text(TEXT_LIMIT), "")
    fields.check()
    return Sender("console", sender_id, reply_target), words
