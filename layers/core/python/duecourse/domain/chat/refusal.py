"""The reply to a sender who may not use chat, and how often it is given."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from duecourse.domain.chat.access import (
    ACCESS_PARAMETER,
    ACCESS_VARIABLE,
    ACTION_ACCESS_PARAMETER,
    ACTION_ACCESS_VARIABLE,
    CHAT_WORD,
    ChatAccess,
)
from duecourse.domain.chat.teams import HOME_TEAMS_PARAMETER, HOME_TEAMS_VARIABLE

if TYPE_CHECKING:
    from duecourse.domain.chat.message import Message

REPLY_INTERVAL = timedelta(hours=1)
MAX_REPLIES = 100  # in one interval, to all chats together


def entry_for(message: Message) -> str:
    """Return the entry that allows the sender of the message, wherever they write."""
    return f"{message.channel}:{message.sender_id}"


def refusal_text(message: Message, access: ChatAccess) -> str:
    """Return the reply to a sender who may not use chat: what an operator would add.

    It names the parameters, and the variables of the local stack.
    """
    entries, variables = entry_for(message), ACCESS_VARIABLE
    for_chat = f"{message.channel}:{CHAT_WORD}:{message.chat}"
    if not message.is_private and access.would_allow(message, for_chat):
        entries += f", or {for_chat} for this chat,"
    step = _operator_step(message, access, entries, ACCESS_PARAMETER)
    if message.team is not None and not access.home_teams.is_set_for(message.channel):
        step += f" and add {message.channel}:{message.team} to {HOME_TEAMS_PARAMETER}"
        variables += f", {HOME_TEAMS_VARIABLE}"
    return f"You may not use this bot yet. Its operator can {step} (local stack: {variables})."


def action_refusal_text(message: Message, access: ChatAccess) -> str:
    step = _operator_step(message, access, entry_for(message), ACTION_ACCESS_PARAMETER)
    return (
        "You may not run actions here, only set reminders."
        f" The operator can {step} (local stack: {ACTION_ACCESS_VARIABLE})."
    )


def _operator_step(message: Message, access: ChatAccess, entries: str, parameter: str) -> str:
    """Return what to do, without the entries if that of the sender is invalid.

    It is for a channel that only sends (`log:ada`) and for an id such as `Ada Lovelace`.
    """
    if access.would_allow(message, entry_for(message)):
        return f"add {entries} to {parameter}"
    return f"change {parameter}"


class RefusalLimiter:
    """Allows one reply per chat and hour, and MAX_REPLIES an hour in all.

    It remembers that in this process only: a stored record would cost a write for each stranger.
    """

    def __init__(self) -> None:
        self._replied_at: dict[tuple[str, str], datetime] = {}  # oldest first

    def may_reply(self, message: Message, *, now: datetime) -> bool:
        """Return whether a refusal may be sent now, and remember it."""
        for key, replied_at in list(self._replied_at.items()):
            if now - replied_at < REPLY_INTERVAL:
                break
            del self._replied_at[key]
        chat = message.channel, message.chat
        if chat in self._replied_at or len(self._replied_at) >= MAX_REPLIES:
            return False
        self._replied_at[chat] = now
        return True
