"""The page on chat says what is true: outputs, variables, limits, and what platforms are given. So
does what the README says of it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from duecourse.adapters.discord import outgoing as discord
from duecourse.adapters.slack import outgoing as slack
from duecourse.adapters.telegram import outgoing as telegram
from duecourse.domain.chat.command_words import COMMANDS
from samtranslator.yaml_helper import yaml_parse

from local.resources import CHAT_PROOFS, CHAT_TOKENS
from local.template import ROOT

README = (ROOT / "README.md").read_text()
PAGE = (ROOT / "docs" / "chat.md").read_text()
COMMANDS_OF_DISCORD = json.loads((ROOT / "docs" / "discord-commands.json").read_text())


def test_the_readme_names_every_command_that_people_can_say() -> None:
    told = README.partition("\nIn chat: ")[2].partition("\n\n")[0]
    named = re.findall(r"`/(\w+)", told)
    assert sorted(named) == sorted(COMMANDS - {"start"})


def test_the_outputs_and_the_parameter_it_names_exist(template: dict[str, Any]) -> None:
    named = re.findall(r"`(\w+Arn|ApiUrl)`", PAGE)
    assert len(set(named)) == 3
    assert set(named) <= template["Outputs"].keys()
    assert "Channels=" in PAGE
    assert "Channels" in template["Parameters"]


def test_every_variable_of_the_laptop_is_named() -> None:
    variables = [*CHAT_TOKENS.values(), *(name for name, _ in CHAT_PROOFS.values())]
    assert [name for name in variables if f"`{name}`" not in PAGE] == []


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("Telegram", f"{telegram.LONGEST_TEXT:,}"),
        ("Slack", f"{slack.LONGEST_TEXT:,}, with buttons {slack.LONGEST_SECTION:,}"),
        ("Discord", f"{discord.LONGEST_TEXT:,}, escapes included"),
    ],
)
def test_the_longest_text_is_told(name: str, limit: str) -> None:
    assert f"| {name} | {limit} |" in PAGE


def test_the_manifest_for_slack_leads_to_its_webhook() -> None:
    text = PAGE.partition("```yaml\n")[2].partition("```")[0]
    manifest = yaml_parse(text)
    urls = re.findall(r"url: (.*)", text)
    assert urls == ["$URL/webhooks/slack"] * 3
    assert set(manifest["settings"]["event_subscriptions"]["bot_events"]) == {
        "app_mention",
        "message.im",
    }
    assert "chat:write" in manifest["oauth_config"]["scopes"]["bot"]


@pytest.mark.parametrize("command", COMMANDS_OF_DISCORD, ids=lambda command: str(command["name"]))
def test_a_command_for_discord_is_one_of_ours_and_as_discord_wants_it(
    command: dict[str, Any],
) -> None:
    options = command.get("options", [])
    assert command["name"] in COMMANDS
    for one in (command, *options):
        assert re.fullmatch(r"[a-z_]{1,32}", one["name"])
        assert 1 <= len(one["description"]) <= 100
    needs = [option.get("required", False) for option in options]
    assert needs == sorted(needs, reverse=True)
    assert {option["type"] for option in options} <= {3}
