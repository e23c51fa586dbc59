"""Reading who may use chat from the environment."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from duecourse.adapters.channels.registry import team_words
from duecourse.app.chat_settings import VARIABLES, ChatSettings
from duecourse.domain.chat.access import AccessEntry
from duecourse.domain.chat.chat_address import ChatAddress
from duecourse.domain.errors import SettingsError

from local.runtime.template import load_template

LIMITS = {
    "CHAT_OPEN_TASKS_LIMIT": "100",
    "CHAT_OPEN_SERIES_LIMIT": "20",
    "CHAT_MIN_INTERVAL_MINUTES": "15",
}
ENTRIES = (
    "*, telegram:*, telegram:5, telegram:chat:-100:7, slack:team:T1, slack:T1:U1, discord:guild:9"
)


def read(**env: str) -> ChatSettings:
    return ChatSettings.from_env(team_words(), env={**LIMITS, **env})


def test_the_defaults_let_nobody_in() -> None:
    settings = read(CHAT_ACCESS="", CHAT_ACTION_ACCESS="", HOME_TEAMS="")

    assert (settings.access.users, settings.access.action_users) == ([], [])
    assert settings == read()


def test_entries_and_limits_are_read() -> None:
    settings = read(CHAT_ACCESS="slack:T1:U1, *", HOME_TEAMS="slack:T1,discord:none")

    assert settings.access.users == [AccessEntry("slack", sender_id="U1"), AccessEntry()]
    assert settings.access.home_teams.by_channel == {"slack": "T1", "discord": None}
    assert settings.limits.open_tasks == 100
    assert settings.limits.open_series == 20
    assert settings.limits.min_interval == timedelta(minutes=15)


def test_the_operators_chats_are_a_part_of_access() -> None:
    chats = [ChatAddress("slack", "C1")]

    assert ChatSettings.from_env(team_words(), chats, LIMITS).access.operator_chats == chats


@pytest.mark.parametrize("name", ["CHAT_ACCESS", "CHAT_ACTION_ACCESS"])
def test_the_error_names_the_setting_and_the_invalid_entry(name: str) -> None:
    with pytest.raises(SettingsError, match=f"{name} must list entries .*'@ada' is not one$"):
        read(**{name: "telegram:5,@ada"})


def test_the_error_names_an_invalid_home_team() -> None:
    with pytest.raises(SettingsError, match=r"HOME_TEAMS must list teams .*'T1' is not one$"):
        read(HOME_TEAMS="T1")
    with pytest.raises(SettingsError, match=r"HOME_TEAMS must name one team for a platform$"):
        read(HOME_TEAMS="slack:T1,slack:T2")


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("value", ["", "0", "-1", "ten"])
def test_the_error_names_an_invalid_limit(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=f"{name} must be a whole number above 0$"):
        read(**{name: value})


def test_all_problems_are_reported_together() -> None:
    with pytest.raises(SettingsError) as refused:
        ChatSettings.from_env(team_words(), env=dict.fromkeys(VARIABLES, "@") | {"HOME_TEAMS": "x"})
    assert all(name in str(refused.value) for name in VARIABLES)


@pytest.mark.parametrize("parameter", ["ChatAccess", "ChatActionAccess"])
def test_a_deployment_accepts_what_the_functions_accept(parameter: str) -> None:
    """CloudFormation refuses what has not the form of an entry, before anything is deployed."""
    pattern = load_template()["Parameters"][parameter]["AllowedPattern"]

    assert len(read(CHAT_ACCESS=ENTRIES).access.users) == 7
    assert [one for one in ENTRIES.split(",") if not re.fullmatch(pattern, one)] == []
    for wrong in ("telegram", "telegram:@ada", "telegram:", "@ada", "**", "telegram:5 6"):
        assert not re.fullmatch(pattern, wrong)


def test_a_deployment_accepts_home_teams() -> None:
    pattern = load_template()["Parameters"]["HomeTeams"]["AllowedPattern"]

    assert all(re.fullmatch(pattern, one) for one in ("", "slack:T1", " discord:none"))
    assert not any(re.fullmatch(pattern, one) for one in ("T1", "slack:", "slack:team:T1", "*"))
