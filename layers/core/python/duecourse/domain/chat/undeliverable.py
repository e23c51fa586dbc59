"""What people are told whose message nobody could answer."""

from __future__ import annotations

from duecourse.domain.chat.chat_message import Saying
from duecourse.domain.chat.message import Message
from duecourse.domain.chat.notification import Notice
from duecourse.domain.text.formatting import one_line

_QUOTED = 100  # characters of what they said


def unanswered(message: Message) -> Notice:
    """What they asked for may have been done, and only the answer have failed."""
    said = one_line(message.text, _QUOTED)
    return Notice(
        channel=message.channel,
        target=message.reply_target,
        saying=Saying(f"I could not answer this: {said}\nLook at /tasks before you say it again."),
        key=f"unanswered:{message.task_id}",
        task_id=message.task_id,
    )
