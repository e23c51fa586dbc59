"""The team of a sender is a part of who owns a task."""

from __future__ import annotations

import pytest
from duecourse.domain.chat.teams import HomeTeams, parse_home_team, pin_team

from tests.support.builders.chat import a_message

WORDS = {"telegram": None, "slack": "team", "discord": "guild"}
AT_HOME = HomeTeams({"slack": "T1"})
ADA = {"channel": "slack", "sender_id": "U1", "dedup_key": "C1:2.0"}


def test_members_of_the_home_team_keep_their_plain_id() -> None:
    message = a_message(**ADA, team="T1")

    assert pin_team(message, AT_HOME) is message


def test_the_same_user_id_in_another_team_is_another_owner() -> None:
    at_home, other = (pin_team(a_message(**ADA, team=team), AT_HOME) for team in ("T1", "T2"))

    assert (at_home.sender_id, other.sender_id) == ("U1", "T2:U1")
    assert at_home.task_id != other.task_id


def test_without_a_home_team_every_sender_has_the_team() -> None:
    for home_teams in (HomeTeams(), HomeTeams({"slack": None})):
        assert pin_team(a_message(**ADA, team="T1"), home_teams).sender_id == "T1:U1"


def test_a_sender_without_a_team_keeps_the_plain_id() -> None:
    message = a_message(channel="discord", sender_id="7")

    assert pin_team(message, HomeTeams({"discord": "9"})) is message


@pytest.mark.parametrize(
    ("text", "parsed"), [("slack:T1", ("slack", "T1")), ("discord:none", ("discord", None))]
)
def test_a_home_team_is_parsed(text: str, parsed: tuple[str, str | None]) -> None:
    assert parse_home_team(text, WORDS) == parsed


@pytest.mark.parametrize("text", ["slack", "slack:", "T1", "telegram:5", "slack:team:T1", "*"])
def test_what_is_no_home_team_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not one$"):
        parse_home_team(text, WORDS)
