"""A person says what they want to hear of their tasks, or asks what we take it to be."""

from __future__ import annotations

from dataclasses import replace

from duecourse.domain.chat.chat_message import Saying
from duecourse.domain.chat.message import Message
from duecourse.domain.chat.notification_kind import Notify
from duecourse.usecases.chat_desk import ChatDesk

_MEANS = {
    Notify.ALL: "all there is to say of your tasks, each retry included",
    Notify.IMPORTANT: "of a first failure, of what needs you, of the end, and when it works again",
    Notify.NONE: "only of what needs you",
}


def answer_notify(wanted: Notify | None, sender: Message, chat: ChatDesk) -> Saying:
    profile = chat.profiles.get(sender.owner)
    if wanted is None:
        level = profile.notify or chat.notify
        others = " or ".join(str(one) for one in Notify if one is not level)
        return Saying(f"{_told(level, 'You hear')} /notify {others} changes that.")
    chat.profiles.save(replace(profile, notify=wanted))
    return Saying(_told(wanted, "From now on you hear"))


def _told(level: Notify, begins: str) -> str:
    return f"{begins} {_MEANS[level]} ({level}). Reminders come in any case."
