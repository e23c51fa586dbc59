"""What was answered to a message, and whether the sender has got it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from duecourse.domain.chat.chat_message import Saying
from duecourse.domain.chat.message import Message
from duecourse.domain.text.formatting import spoken_time

LATE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Answered:
    saying: Saying
    is_told: bool = False


def told_again(saying: Saying, message: Message, *, now: datetime) -> Saying:
    """It was right when they asked. Of what it says, some may have come and gone since."""
    if now - message.at < LATE:
        return saying
    asked = spoken_time(message.at, "UTC")
    return replace(saying, text=f"{saying.text}\nThis answer comes late: you asked on {asked}.")
