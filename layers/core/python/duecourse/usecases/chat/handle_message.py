"""A message came in: do what it asks once, and answer it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from duecourse.domain.chat.message import Message
from duecourse.domain.chat.stored_reply import Answered, told_again
from duecourse.ports.chat import Answers
from duecourse.ports.integrations import Channel
from duecourse.usecases.chat.context import ChatDesk
from duecourse.usecases.chat.dispatch_command import answer_command


def hear_message(
    message: Message, chat: ChatDesk, channel: Channel, answers: Answers, *, now: datetime
) -> bool:
    """False for one that was answered before.

    The answer is kept before it is told: whoever takes a message up after a crash tells what was
    done, and does not do it again. Only a crash between telling and noting that tells it twice.
    """
    answered = answers.get(message)
    if answered is not None and answered.is_told:
        return False
    if answered is None:
        answered = Answered(answer_command(message, chat, now=now))
        answers.keep(message, answered)
        channel.answer(message, answered.saying)
    else:
        channel.answer(message, told_again(answered.saying, message, now=now))
    answers.keep(message, replace(answered, is_told=True))
    return True
