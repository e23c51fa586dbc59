"""Which chat platforms there are, which of them a deployment offers, and who is heard."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from duecourse.adapters.channels.platform import InboundDeps, OutboundDeps, Platform
from duecourse.adapters.channels.registry import (
    PLATFORMS,
    default_channel,
    find_platform,
    make_channels,
)
from duecourse.adapters.http.request_errors import UnknownPlatformError
from duecourse.app import registry
from duecourse.domain.chat.buttons import COMMAND_LIMIT
from duecourse.domain.errors import SettingsError

from tests.support.builders.moments import NOW
from tests.support.chat_cases import HTTP_CLIENT, TOKENS
from tests.support.fakes.clock import ManualClock
from tests.support.platforms import SIGNATURE_HEADER
from tests.unit.adapters.channels.all_platforms.platforms import PLATFORMS as TESTED_SENDERS

ALL = ("telegram", "slack", "discord")
SENDERS = [platform for platform in PLATFORMS.values() if platform.outbound is not None]


def deps() -> OutboundDeps:
    return OutboundDeps(http_client=HTTP_CLIENT, tokens=TOKENS, clock=ManualClock(NOW))


@pytest.mark.parametrize("names", [(), ("slack",), ALL])
def test_only_what_is_named_is_offered(names: tuple[str, ...]) -> None:
    assert tuple(make_channels(names, deps())) == names


@pytest.mark.parametrize("name", ["irc", "console"])
def test_a_name_that_no_sender_has_is_said_with_those_there_are(name: str) -> None:
    told = f"CHANNELS: {name} is none of telegram, slack, discord"
    with pytest.raises(SettingsError, match=told):
        make_channels(("slack", name), deps())


@pytest.mark.parametrize("name", [*ALL, "console"])
def test_each_platform_is_heard_by_an_adapter_of_its_own(name: str) -> None:
    made = find_platform(name).inbound.make(InboundDeps(proofs=TOKENS, new_id=lambda: "new-id"))
    assert type(made).__module__ == f"duecourse.adapters.channels.{name}.inbound"


@pytest.mark.parametrize("name", ALL)
def test_each_platform_is_sent_to_by_an_adapter_of_its_own(name: str) -> None:
    [made] = make_channels((name,), deps()).values()
    assert type(made).__module__ == f"duecourse.adapters.channels.{name}.outbound"


@pytest.mark.parametrize("name", ["irc", "Slack", ""])
def test_nobody_else_is_heard(name: str) -> None:
    with pytest.raises(UnknownPlatformError):
        find_platform(name)


def test_the_console_is_not_heard_where_it_was_not_added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "channels", dict)
    with pytest.raises(UnknownPlatformError):
        registry.inbound_parser("console")


def test_every_platform_is_registered_by_its_name() -> None:
    assert {name: platform.name for name, platform in PLATFORMS.items()} == {
        name: name for name in ("console", *ALL)
    }


def test_the_tests_of_all_platforms_know_every_platform() -> None:
    names = {platform.name for platform in SENDERS}
    assert set(SIGNATURE_HEADER) == names
    assert {platform.name for platform in TESTED_SENDERS} == names


def test_a_platform_that_verifies_nobody_cannot_be_offered_by_a_deployment() -> None:
    for platform in SENDERS:
        unverified = replace(platform.inbound, proof=None)
        with pytest.raises(ValueError, match="must verify"):
            replace(platform, inbound=unverified)


@pytest.mark.parametrize("platform", SENDERS, ids=lambda platform: str(platform.name))
def test_every_platform_with_buttons_takes_the_longest_command_of_ours(platform: Platform) -> None:
    assert platform.outbound is not None
    limits = platform.outbound.limits
    longest = "x" * COMMAND_LIMIT
    assert limits.most_buttons > 0
    assert limits.command_size(longest) <= limits.longest_command


@pytest.mark.parametrize(
    ("names", "expected"), [((), None), (ALL, None), (("slack", "console"), "console")]
)
def test_tasks_that_name_no_channel_go_to_the_console_where_there_is_one(
    names: Any, expected: str | None
) -> None:
    assert default_channel(names) == expected
