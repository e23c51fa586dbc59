"""Who may use chat: how entries are written, and which messages they allow."""

from __future__ import annotations

from typing import Any

import pytest
from duecourse.domain.chat.access import ChatAccess, parse_entry
from duecourse.domain.chat.chat_address import ChatAddress
from duecourse.domain.chat.teams import HomeTeams

from tests.support.builders.chat import a_message

PLATFORMS = {"console": None, "telegram": None, "slack": "team", "discord": "guild"}
HOME_TEAMS = HomeTeams({"slack": "T1", "discord": None})
TELEGRAM: dict[str, Any] = {"channel": "telegram", "sender_id": "5", "reply_target": "5"}
GROUP: dict[str, Any] = {**TELEGRAM, "reply_target": "-100", "is_private": False}
SLACK: dict[str, Any] = {"channel": "slack", "sender_id": "U1", "reply_target": "D1", "team": "T1"}
OTHER_TEAM = {**SLACK, "sender_id": "T2:U1", "team": "T2"}
DISCORD = {"channel": "discord", "sender_id": "9:7", "reply_target": "8", "team": "9"}
DIRECT = {"channel": "discord", "sender_id": "7", "reply_target": "8"}


def is_allowed(entry: str, message: dict[str, Any]) -> bool:
    access = ChatAccess([parse_entry(entry, PLATFORMS, HOME_TEAMS)], home_teams=HOME_TEAMS)
    return access.allows(a_message(**message))


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("*", TELEGRAM),
        ("*", OTHER_TEAM),
        ("telegram:*", TELEGRAM),
        ("telegram:5", TELEGRAM),
        ("telegram:5", GROUP),
        ("telegram:chat:-100", GROUP),
        ("telegram:chat:-100", {**GROUP, "reply_target": "-100:7"}),
        ("telegram:chat:-100:7", {**GROUP, "reply_target": "-100:7"}),
        ("slack:team:T1", SLACK),
        ("slack:team:T2", OTHER_TEAM),
        ("slack:U1", SLACK),
        ("slack:T1:U1", SLACK),
        ("slack:T2:U1", OTHER_TEAM),
        ("slack:chat:C1", {**SLACK, "source_chat": "C1"}),
        ("discord:guild:9", DISCORD),
        ("discord:9:7", DISCORD),
        ("discord:7", DIRECT),
    ],
)
def test_an_entry_allows_what_it_names(entry: str, message: dict[str, Any]) -> None:
    assert is_allowed(entry, message)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("slack:*", TELEGRAM),
        ("telegram:55", TELEGRAM),
        ("telegram:chat:-10", GROUP),
        ("telegram:chat:-100:7", GROUP),
        ("telegram:-100", GROUP),
        ("telegram:chat:5", GROUP),
        ("slack:5", TELEGRAM),
        ("slack:team:T1", OTHER_TEAM),
        ("slack:U1", OTHER_TEAM),
        ("slack:T1:U1", OTHER_TEAM),
        ("slack:T2:U1", SLACK),
        ("slack:chat:U1", SLACK),
        ("discord:guild:9", DIRECT),
        ("discord:7", DISCORD),
    ],
)
def test_an_entry_allows_nothing_else(entry: str, message: dict[str, Any]) -> None:
    assert not is_allowed(entry, message)


@pytest.mark.parametrize(
    "entry",
    [
        "12345",
        "telegram",
        "telegram:",
        "telegram:@ada",
        "telegram: 5",
        "telegram:team:5",
        "telegram:1:5",
        "telegram:chat",
        "telegram:chat:",
        "telegram:chat:*",
        "whatsapp:5",
        ":5",
        "*:5",
        "**",
        "slack:team",
        "slack:guild:9",
        "slack:team:",
        "slack:team:*",
        "slack:team:T1:U1",
        "slack:T1:U1:C1",
        "discord:team:9",
        f"telegram:{'5' * 101}",
    ],
)
def test_what_is_no_entry_is_refused(entry: str) -> None:
    with pytest.raises(ValueError, match=r"is not one$"):
        parse_entry(entry, PLATFORMS, HOME_TEAMS)


def test_without_entries_nobody_is_allowed() -> None:
    access = ChatAccess()

    assert not access.allows(a_message(**TELEGRAM))
    assert not access.allows(a_message())
    assert not access.allows_actions(a_message())


def test_actions_are_allowed_apart_and_imply_access() -> None:
    reminders, actions = (
        [parse_entry(f"telegram:{who}", PLATFORMS, HOME_TEAMS)] for who in ("5", "6")
    )
    access = ChatAccess(reminders, actions)
    ada, bob = a_message(**TELEGRAM), a_message(**{**TELEGRAM, "sender_id": "6"})

    assert (access.allows(ada), access.allows_actions(ada)) == (True, False)
    assert (access.allows(bob), access.allows_actions(bob)) == (True, True)


def test_the_operators_chats_are_always_allowed() -> None:
    access = ChatAccess(operator_chats=[ChatAddress("telegram", "-100")])

    assert access.allows(a_message(**GROUP))
    assert access.allows_actions(a_message(**GROUP))
    assert not access.allows(a_message(**TELEGRAM))


def test_a_team_is_closed_until_somebody_decides_about_the_home_team() -> None:
    everybody = [parse_entry("*", PLATFORMS, HomeTeams())]

    assert not ChatAccess(everybody).allows(a_message(**SLACK))
    assert ChatAccess(everybody).allows(a_message(**TELEGRAM))
    assert ChatAccess(everybody, home_teams=HomeTeams({"slack": None})).allows(a_message(**SLACK))
