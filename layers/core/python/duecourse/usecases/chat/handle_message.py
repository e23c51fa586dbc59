"""Handle an incoming chat message: carry it out once and reply."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from duecourse.domain.chat.message import Message
from duecourse.domain.chat.stored_reply import StoredReply, add_late_note
from duecourse.ports.chat import ReplyStore
from duecourse.ports.integrations import Channel
from duecourse.usecases.chat.context import ChatContext
from duecourse.usecases.chat.dispatch_command import dispatch_command


def handle_message(
    message: Message, context: ChatContext, channel: Channel, replies: ReplyStore, *, now: datetime
) -> bool:
    """Carry out the message and reply; return False if it was answered before.

    The reply is stored before it is sent, so a redelivery after a crash repeats the reply and not
    the command. A crash between sending and marking it delivered sends the reply twice.
    """
    stored = replies.get(message)
    if stored is not None and stored.is_delivered:
        return False
    if stored is None:
        stored = StoredReply(dispatch_command(message, context, now=now))
        replies.save(message, stored)
        channel.reply(message, stored.reply)
    else:
        channel.reply(message, add_late_note(stored.reply, message, now=now))
    replies.save(message, replace(stored, is_delivered=True))
    context.profiles.renew(message.owner)
    context.quiet_hours.renew(message.owner)
    return True
