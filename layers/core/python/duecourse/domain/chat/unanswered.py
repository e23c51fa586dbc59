"""What people are told whose message nobody could answer."""

from __future__ import annotations

from duecourse.domain.chat.message import Message
from duecourse.domain.chat.notice import Notice

QUOTED = 100


def unanswered(message: Message) -> Notice:
    """What they asked for may have been done, and only the answer have failed."""
    said = " ".join(message.text.split())
    quoted = said if len(said) <= QUOTED else f"{said[:QUOTED].rstrip()} …"
    return Notice(
        channel=message.channel,
        target=message.reply_target,
        text=f"I could not answer this: {quoted}\nLook at /tasks before you say it again.",
        key=f"unanswered:{message.task_id}",
        task_id=message.task_id,
    )
