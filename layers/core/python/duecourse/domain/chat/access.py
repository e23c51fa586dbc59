"""Who may use chat: the entries of the settings, and whether they allow a message."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from duecourse.domain.chat.chat_address import ChatAddress
from duecourse.domain.chat.teams import HomeTeams, owner_id

if TYPE_CHECKING:
    from duecourse.domain.chat.message import Message

ACCESS_PARAMETER, ACCESS_VARIABLE = "ChatAccess", "CHAT_ACCESS"
ACTION_ACCESS_PARAMETER, ACTION_ACCESS_VARIABLE = "ChatActionAccess", "CHAT_ACTION_ACCESS"
EVERYBODY = "*"
CHAT_WORD = "chat"
_ID_PATTERN = re.compile(r"[A-Za-z0-9_.-]{1,100}")


@dataclass(frozen=True, slots=True)
class AccessEntry:
    """One entry of the settings. It allows the messages that match every field that is set."""

    channel: str | None = None
    sender_id: str | None = None
    team: str | None = None
    chat: ChatAddress | None = None

    def allows(self, message: Message) -> bool:
        return (
            self.channel in (None, message.channel)
            and self.sender_id in (None, message.sender_id)
            and self.team in (None, message.team)
            and (self.chat is None or self.chat.contains(message))
        )


def parse_entry(
    text: str, team_words: Mapping[str, str | None], home_teams: HomeTeams
) -> AccessEntry:
    """Parse an entry such as `telegram:12345`. Raises ValueError if it is none.

    `team_words` has every platform, with what it calls a team (`team`, `guild`) or None.
    """
    if text == EVERYBODY:
        return AccessEntry()
    channel, _, rest = text.partition(":")
    entry = _parse_parts(channel, rest.split(":"), team_words, home_teams)
    if entry is None:
        raise ValueError(f"{text!r} is not one")
    return entry


def _parse_parts(
    channel: str, parts: list[str], team_words: Mapping[str, str | None], home_teams: HomeTeams
) -> AccessEntry | None:
    """Return the entry for what follows the platform, or None if it is invalid."""
    if channel not in team_words:
        return None
    if parts == [EVERYBODY]:
        return AccessEntry(channel)
    if not all(map(_ID_PATTERN.fullmatch, parts)):
        return None
    team_word, reserved = team_words[channel], {CHAT_WORD, *team_words.values()}
    match parts:
        case [kind, _, *_] if kind == CHAT_WORD:
            return AccessEntry(channel, chat=ChatAddress(channel, ":".join(parts[1:])))
        case [kind, team] if kind == team_word:
            return AccessEntry(channel, team=team)
        case [user] if user not in reserved:
            return AccessEntry(channel, sender_id=user)
        case [team, user] if team_word and team not in reserved:
            return AccessEntry(channel, sender_id=owner_id(channel, user, team, home_teams))
    return None


@dataclass(frozen=True)
class ChatAccess:
    """Who may use chat and, apart from that, who may start actions there.

    Whoever may start actions may use chat, and the operators' chats may do both. `team_words` is
    that of `parse_entry`.
    """

    users: Sequence[AccessEntry] = ()
    action_users: Sequence[AccessEntry] = ()
    operator_chats: Sequence[ChatAddress] = ()
    home_teams: HomeTeams = field(default_factory=HomeTeams)
    team_words: Mapping[str, str | None] = field(default_factory=dict)

    def allows(self, message: Message) -> bool:
        """Return whether the sender may use chat. `message` has its pinned sender id."""
        return self._is_allowed(message, (*self.users, *self.action_users))

    def allows_actions(self, message: Message) -> bool:
        return self._is_allowed(message, self.action_users)

    def would_allow(self, message: Message, entry: str) -> bool:
        """Return whether `entry` is valid, and allows the message."""
        try:
            return parse_entry(entry, self.team_words, self.home_teams).allows(message)
        except ValueError:
            return False

    def _is_allowed(self, message: Message, entries: Sequence[AccessEntry]) -> bool:
        if any(chat.contains(message) for chat in self.operator_chats):
            return True
        is_pinned = message.team is None or self.home_teams.is_set_for(message.channel)
        return is_pinned and any(entry.allows(message) for entry in entries)
