"""Write messages to standard output, one JSON line each, whatever the log level is."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from duecourse.adapters.channels.log import LIMITS
from duecourse.domain.chat.chat_message import ChatMessage
from duecourse.domain.text.redaction import redact
from duecourse.domain.time.instant import to_text

if TYPE_CHECKING:
    from duecourse.domain.chat.message import Message
    from duecourse.ports.runtime import Clock

LOG_MESSAGE = "message_logged"  # the field `message` of each line, to search for


def _write_line(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


class LogChannel:
    """A log level would drop what is the delivery itself, so the line does not go through one."""

    def __init__(self, clock: Clock, write_line: Callable[[str], None] = _write_line) -> None:
        self._clock = clock
        self._write_line = write_line

    def send(self, target: str, content: ChatMessage, *, idempotency_key: str) -> None:
        """Write the line. Secrets in the text are redacted, because logs are read by many."""
        fields = {
            "level": "INFO",
            "message": LOG_MESSAGE,
            "timestamp": to_text(self._clock.now()),
            "target": target,
            "text": redact(content.text, LIMITS.longest_text),
            "key": idempotency_key,
        }
        self._write_line(json.dumps(fields))  # ASCII on one line: a text cannot forge a second one

    def reply(self, message: Message, content: ChatMessage) -> None:
        self.send(message.reply_target, content, idempotency_key=message.dedup_key)
