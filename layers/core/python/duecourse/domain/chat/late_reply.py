"""A reply that could not be sent at once, as a notification."""

from __future__ import annotations

from duecourse.domain.chat.chat_message import ChatMessage
from duecourse.domain.chat.message import Message
from duecourse.domain.chat.notification import Notification


def late_reply_notification(message: Message, reply: ChatMessage) -> Notification:
    """Return the notification that delivers `reply`.

    It carries the message, so that the channel replies as it would have. Older versions ignore that
    and send to the target, which is as private as the reply.
    """
    return Notification(
        channel=message.channel,
        target=message.late_reply_target,
        message=reply,
        idempotency_key=f"reply:{message.task_id}",
        task_id=message.task_id,
        reply_to=message,
    )
