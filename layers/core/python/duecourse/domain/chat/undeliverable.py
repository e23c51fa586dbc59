"""The notification for a sender whose message could not be answered."""

from __future__ import annotations

from duecourse.domain.chat.chat_message import ChatMessage
from duecourse.domain.chat.message import Message
from duecourse.domain.chat.notification import Notification
from duecourse.domain.text.formatting import to_one_line

_QUOTE_LIMIT = 100  # characters of the message


def undeliverable_notification(message: Message) -> Notification:
    """Return the notification for the sender of `message`.

    The command may have been carried out; perhaps only the reply failed. It quotes the message, so
    it goes where the reply to it would go.
    """
    quote = to_one_line(message.text, _QUOTE_LIMIT)
    return Notification(
        channel=message.channel,
        target=message.late_reply_target,
        message=ChatMessage(
            f"I could not answer this message: {quote}\n"
            "It may have been carried out. Check /tasks before you send it again."
        ),
        idempotency_key=f"unanswered:{message.task_id}",
        task_id=message.task_id,
    )
