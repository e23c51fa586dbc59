"""Publish messages to the topic that sends them as e-mail."""

from __future__ import annotations

from duecourse.adapters.channels.email import LIMITS, NAME, SUBSCRIBERS
from duecourse.adapters.channels.email.subject import to_subject
from duecourse.adapters.channels.size_limits import truncate_text
from duecourse.domain.chat.chat_message import ChatMessage
from duecourse.domain.chat.message import Message
from duecourse.domain.errors import RecipientGoneError
from duecourse.ports.integrations import Topic


class EmailChannel:
    def __init__(self, topic: Topic) -> None:
        self._topic = topic

    def send(self, target: str, content: ChatMessage, *, idempotency_key: str) -> None:
        """Publish the text. Buttons are left out: an e-mail has none."""
        del idempotency_key  # SNS does not deduplicate on a standard topic
        if target != SUBSCRIBERS:
            # What is meant for one person must not go to all.
            detail = f"it sends to all {SUBSCRIBERS}, not to one address"
            raise RecipientGoneError(NAME, detail)
        text = truncate_text(content.text, LIMITS.longest_text)
        self._topic.publish(subject=to_subject(text), text=text)

    def reply(self, message: Message, content: ChatMessage) -> None:
        self.send(message.reply_target, content, idempotency_key=message.dedup_key)
