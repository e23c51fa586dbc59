"""Replies that only the sender of a message may see, without the platform's means for them."""

from __future__ import annotations

from collections.abc import Callable

from duecourse.domain.chat.chat_message import ChatMessage
from duecourse.domain.chat.message import Message
from duecourse.domain.errors import RecipientGoneError

NO_PRIVATE_CHAT = ChatMessage(
    "I could not deliver a private reply. Allow direct messages from me, then send me /tasks."
)


def send_private_reply(
    send: Callable[[str, ChatMessage], None],
    message: Message,
    content: ChatMessage,
    *,
    target: str,
) -> None:
    """Send the reply to `target`.

    If the person cannot be reached there, the chat that the message came from gets a line that
    says so and nothing of the reply, because others may read it.
    """
    try:
        send(target, content)
    except RecipientGoneError:
        if target == message.reply_target:
            raise
        send(message.reply_target, NO_PRIVATE_CHAT)
