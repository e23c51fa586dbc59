"""docs/chat.md is true: commands, outputs, variables, limits and platform manifests."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from duecourse.adapters.channels.platform import Platform
from duecourse.adapters.channels.registry import PLATFORMS
from duecourse.adapters.channels.slack.outbound import MAX_SECTION_LENGTH
from duecourse.domain.chat.command_names import COMMAND_NAMES
from samtranslator.yaml_helper import yaml_parse

from local.runtime.template import ROOT

PAGE = (ROOT / "docs" / "chat.md").read_text()
SETTINGS = (ROOT / "docs" / "settings.md").read_text()
OUTBOUND_PLATFORMS = [platform for platform in PLATFORMS.values() if platform.outbound is not None]
every_platform = pytest.mark.parametrize(
    "platform", OUTBOUND_PLATFORMS, ids=lambda platform: str(platform.name)
)
DISCORD_COMMANDS = json.loads((ROOT / "docs" / "discord-commands.json").read_text())


def test_the_page_lists_every_command() -> None:
    section = PAGE.partition("\n## Commands\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    listed = [name for row in rows for name in re.findall(r"`/(\w+)", row)]
    assert sorted(listed) == sorted(COMMAND_NAMES - {"start"})


def test_the_outputs_and_the_parameter_it_names_exist(template: dict[str, Any]) -> None:
    named = re.findall(r"`(\w+Arn|ApiUrl)`", PAGE)
    assert len(set(named)) == 3
    assert set(named) <= template["Outputs"].keys()
    assert "Channels=" in PAGE
    assert "Channels" in template["Parameters"]


@every_platform
def test_the_page_names_every_environment_variable(platform: Platform) -> None:
    assert platform.outbound is not None
    assert platform.inbound.proof is not None
    for variable in (platform.outbound.token.variable, platform.inbound.proof.variable):
        assert f"`{variable}`" in PAGE


@every_platform
def test_the_page_states_the_limits(platform: Platform) -> None:
    assert platform.outbound is not None
    limits = platform.outbound.limits
    [row] = re.findall(rf"^\| {platform.name.title()} \| (\d.*) \|$", PAGE, re.MULTILINE)
    text, pace, buttons = row.split(" | ")
    assert text.startswith(f"{limits.longest_text:,}")
    assert ("1 message a second" in pace) == (limits.rest.total_seconds() == 1)
    assert (f", {limits.most_a_second} in all" in pace) == (limits.most_a_second > 0)
    assert buttons.startswith(str(limits.most_buttons))


def test_the_page_states_the_slack_limit_with_buttons() -> None:
    assert f", with buttons {MAX_SECTION_LENGTH:,} |" in PAGE


@every_platform
def test_the_template_and_the_pages_name_every_platform(
    platform: Platform, template: dict[str, Any]
) -> None:
    name = platform.name
    assert name in template["Parameters"]["Channels"]["Description"]
    for secret in ("ChatTokensSecret", "ChatVerificationSecret"):
        assert f'"{name}": ' in template["Resources"][secret]["Properties"]["Description"]
    [settings_row] = re.findall(r"^\| `Channels` .*$", SETTINGS, re.MULTILINE)
    assert f"`{name}`" in settings_row
    assert f"\n   | `{name}` | " in PAGE
    assert f"\n## {name.title()}\n" in PAGE


def test_the_slack_manifest_points_to_the_webhook() -> None:
    text = PAGE.partition("```yaml\n")[2].partition("```")[0]
    manifest = yaml_parse(text)
    urls = re.findall(r"url: (.*)", text)
    assert urls == ["$URL/webhooks/slack"] * 3
    assert set(manifest["settings"]["event_subscriptions"]["bot_events"]) == {
        "app_mention",
        "message.im",
    }
    assert "chat:write" in manifest["oauth_config"]["scopes"]["bot"]


@pytest.mark.parametrize("command", DISCORD_COMMANDS, ids=lambda command: str(command["name"]))
def test_a_discord_command_exists_and_is_valid(
    command: dict[str, Any],
) -> None:
    options = command.get("options", [])
    assert command["name"] in COMMAND_NAMES
    for described in (command, *options):
        assert re.fullmatch(r"[a-z_]{1,32}", described["name"])
        assert 1 <= len(described["description"]) <= 100
    needs = [option.get("required", False) for option in options]
    assert needs == sorted(needs, reverse=True)
    assert {option["type"] for option in options} <= {3}
