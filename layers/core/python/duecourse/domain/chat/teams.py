"""Teams (Slack's workspaces, Discord's guilds) as a part of who owns a task.

The ids of users are unique in a team. Members of the home team have their plain id as owner, as
every sender had before teams were told apart; members of other teams have `team:user`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duecourse.domain.chat.message import Message

HOME_TEAMS_PARAMETER, HOME_TEAMS_VARIABLE = "HomeTeams", "HOME_TEAMS"
NO_HOME = "none"
_ENTRY_PATTERN = re.compile(r"([a-z]+):([A-Za-z0-9_.-]{1,100})")


@dataclass(frozen=True, slots=True)
class HomeTeams:
    """The home team by platform: None if it has none, missing if nobody decided."""

    by_channel: Mapping[str, str | None] = field(default_factory=dict)

    def is_set_for(self, channel: str) -> bool:
        return channel in self.by_channel

    def is_home(self, channel: str, team: str) -> bool:
        return self.by_channel.get(channel) == team


def parse_home_team(text: str, team_words: Mapping[str, str | None]) -> tuple[str, str | None]:
    """Parse `slack:T0123` or `slack:none` into platform and team. Raises ValueError."""
    found = _ENTRY_PATTERN.fullmatch(text)
    if found is None or not team_words.get(found[1]):
        raise ValueError(f"{text!r} is not one")
    return found[1], None if found[2] == NO_HOME else found[2]


def owner_id(channel: str, user: str, team: str | None, home_teams: HomeTeams) -> str:
    """Return the sender id of the user's tasks."""
    if team is None or home_teams.is_home(channel, team):
        return user
    return f"{team}:{user}"


def pin_team(message: Message, home_teams: HomeTeams) -> Message:
    """Return the message with the sender id that its tasks have.

    The ids of messages are unique in a team as well, so another team's get its name.
    """
    sender_id = owner_id(message.channel, message.sender_id, message.team, home_teams)
    if sender_id == message.sender_id:
        return message
    key = f"{message.team}:{message.dedup_key}"
    return replace(message, sender_id=sender_id, dedup_key=key)
