"""Read the settings of chat: who may use it, and the limits of each sender.

They are apart from the other settings, because only the functions of chat need them. An invalid
entry closes chat, and tasks still run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from duecourse.app.settings import is_positive_integer, split_list
from duecourse.domain.chat.access import (
    ACCESS_VARIABLE,
    ACTION_ACCESS_VARIABLE,
    AccessEntry,
    ChatAccess,
    parse_entry,
)
from duecourse.domain.chat.chat_address import ChatAddress
from duecourse.domain.chat.limits import ChatLimits
from duecourse.domain.chat.teams import HOME_TEAMS_VARIABLE, HomeTeams, parse_home_team
from duecourse.domain.errors import SettingsError

T = TypeVar("T")
ACCESS, ACTION_ACCESS, HOME_TEAMS = ACCESS_VARIABLE, ACTION_ACCESS_VARIABLE, HOME_TEAMS_VARIABLE
OPEN_TASKS, OPEN_SERIES = "CHAT_OPEN_TASKS_LIMIT", "CHAT_OPEN_SERIES_LIMIT"
MIN_INTERVAL = "CHAT_MIN_INTERVAL_MINUTES"
VARIABLES = (ACCESS, ACTION_ACCESS, HOME_TEAMS, OPEN_TASKS, OPEN_SERIES, MIN_INTERVAL)
_ENTRY_FORMS = (
    "telegram:12345, telegram:chat:-100456, slack:team:T0123, slack:T0123:U0456,"
    " discord:guild:789, telegram:* or *"
)


@dataclass(frozen=True)
class ChatSettings:
    access: ChatAccess
    limits: ChatLimits

    @classmethod
    def from_env(
        cls,
        team_words: Mapping[str, str | None],
        operator_chats: Sequence[ChatAddress] = (),
        env: Mapping[str, str] = os.environ,  # noqa: TID251 - here it is read
    ) -> ChatSettings:
        """Read the settings. Raises SettingsError with all problems.

        `team_words` has every platform. Without a list, nobody is allowed.
        """
        reader = _Reader(env, team_words)
        home_teams = reader.home_teams()
        access = ChatAccess(
            users=reader.entries(ACCESS, home_teams),
            action_users=reader.entries(ACTION_ACCESS, home_teams),
            operator_chats=operator_chats,
            home_teams=home_teams,
            team_words=team_words,
        )
        limits = ChatLimits(
            open_tasks=reader.number(OPEN_TASKS),
            open_series=reader.number(OPEN_SERIES),
            min_interval=timedelta(minutes=reader.number(MIN_INTERVAL)),
        )
        if reader.problems:
            raise SettingsError(reader.problems)
        return cls(access, limits)


class _Reader:
    """Reads variables and collects all problems, so that one deployment can fix them all."""

    def __init__(self, env: Mapping[str, str], team_words: Mapping[str, str | None]) -> None:
        self._env = env
        self._team_words = team_words
        self.problems: list[str] = []

    def entries(self, name: str, home_teams: HomeTeams) -> Sequence[AccessEntry]:
        return self._parse_list(
            name,
            lambda text: parse_entry(text, self._team_words, home_teams),
            f"must list entries such as {_ENTRY_FORMS}",
        )

    def home_teams(self) -> HomeTeams:
        found = self._parse_list(
            HOME_TEAMS,
            lambda text: parse_home_team(text, self._team_words),
            "must list teams as slack:T0123 or discord:789, or slack:none for no home team",
        )
        if len(dict(found)) < len(found):
            self.problems.append(f"{HOME_TEAMS} must name one team for a platform")
        return HomeTeams(dict(found))

    def number(self, name: str) -> int:
        text = self._env.get(name, "")
        if is_positive_integer(text):
            return int(text)
        self.problems.append(f"{name} must be a whole number above 0")
        return 1

    def _parse_list(self, name: str, parse: Callable[[str], T], rule: str) -> Sequence[T]:
        found = []
        for text in split_list(self._env.get(name, "")):
            try:
                found.append(parse(text))
            except ValueError as error:
                self.problems.append(f"{name} {rule}, and {error}")
        return found
