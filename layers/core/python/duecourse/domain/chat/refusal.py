"""The reply to a sender who may not use chat, and how often it is given."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from duecourse.domain.chat.access import CHAT_WORD, ChatAccess

if TYPE_CHECKING:
    from duecourse.domain.chat.message import Message

ACCESS_PARAMETER = "ChatAccess"
ACTION_ACCESS_PARAMETER = "ChatActionAccess"
HOME_TEAMS_PARAMETER = "HomeTeams"
REPLY_INTERVAL = timedelta(hours=1)
MAX_REPLIES = 100  # in one interval, to all chats together


def entry_for(message: Message) -> str:
    """Return the entry that allows the sender of the message, wherever they write."""
    return f"{message.channel}:{message.sender_id}"


def refusal_text(message: Message, access: ChatAccess) -> str:
    """Return the reply to a sender who may not use chat: what an operator would add."""
    additions = f"add {entry_for(message)} to {ACCESS_PARAMETER}"
    if not message.is_private:
        everybody = f"{message.channel}:{CHAT_WORD}:{message.chat}"
        additions = f"add {entry_for(message)}, or {everybody} for this chat, to {ACCESS_PARAMETER}"
    if message.team is not None and not access.home_teams.is_set_for(message.channel):
        additions += f" and {message.channel}:{message.team} to {HOME_TEAMS_PARAMETER}"
    return f"You may not use this bot yet. Its operator can {additions}."


def action_refusal_text(message: Message) -> str:
    return (
        "You may not run actions here, only set reminders."
        f" The operator can add {entry_for(message)} to {ACTION_ACCESS_PARAMETER}."
    )


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
