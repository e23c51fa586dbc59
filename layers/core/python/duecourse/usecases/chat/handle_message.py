"""Handle an incoming chat message: carry it out once and reply."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from duecourse.domain.chat.late_reply import late_reply_notification
from duecourse.domain.chat.message import Message
from duecourse.domain.chat.stored_reply import StoredReply
from duecourse.domain.errors import RecipientGoneError
from duecourse.ports.chat import ReplyStore
from duecourse.ports.integrations import Channel
from duecourse.ports.queues import NotificationQueue
from duecourse.usecases.chat.context import ChatContext
from duecourse.usecases.chat.dispatch_command import dispatch_command


class ReplyOutcome(StrEnum):
    REPLIED = "replied"
    DUPLICATE = "duplicate_message"
    DEFERRED = "reply_deferred"


@dataclass(frozen=True)
class ReplyResult:
    """`error` is what kept a deferred reply from being sent; None after a crash."""

    outcome: ReplyOutcome
    error: Exception | None = None


@dataclass(frozen=True)
class ReplyDeps:
    """`notification_queue` takes the replies that cannot be sent at once."""

    channel: Channel
    replies: ReplyStore
    notification_queue: NotificationQueue


def handle_message(
    message: Message, context: ChatContext, deps: ReplyDeps, *, now: datetime
) -> ReplyResult:
    """Carry out the message and reply.

    The reply is stored before it is sent, so a redelivery after a crash does not repeat the
    command. A reply that fails, or that a crash may have prevented, is left to the notification
    queue: the sender's later messages do not wait for it. A crash just before it is marked as
    delivered sends it twice. Raises RecipientGoneError if no retry can deliver the reply.
    """
    stored = deps.replies.get(message)
    if stored is not None and stored.is_delivered:
        return ReplyResult(ReplyOutcome.DUPLICATE)
    result = ReplyResult(ReplyOutcome.DEFERRED)
    if stored is None:
        stored = StoredReply(dispatch_command(message, context, now=now))
        deps.replies.save(message, stored)
        result = _try_reply(message, stored, deps)
    if result.outcome is ReplyOutcome.DEFERRED:
        deps.notification_queue.send(late_reply_notification(message, stored.reply))
    deps.replies.save(message, replace(stored, is_delivered=True))
    context.profiles.renew(message.owner)
    context.quiet_hours.renew(message.owner)
    return result


def _try_reply(message: Message, stored: StoredReply, deps: ReplyDeps) -> ReplyResult:
    try:
        deps.channel.reply(message, stored.reply)
    except RecipientGoneError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, the command has been carried out
        return ReplyResult(ReplyOutcome.DEFERRED, error)
    return ReplyResult(ReplyOutcome.REPLIED)
