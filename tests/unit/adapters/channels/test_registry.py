"""The chat platforms, and which of them a deployment sends to and receives from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from duecourse.adapters.channels.platform import InboundDeps, OutboundDeps, Platform
from duecourse.adapters.channels.registry import (
    PLATFORMS,
    SEND_ONLY,
    default_channel,
    default_reminder_channel,
    find_platform,
    make_channels,
    make_send_only,
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


class _Topic:
    def publish(self, *, subject: str, text: str) -> None: ...


def deps(topic: _Topic | None = None) -> OutboundDeps:
    return OutboundDeps(http_client=HTTP_CLIENT, tokens=TOKENS, clock=ManualClock(NOW), topic=topic)


@pytest.mark.parametrize("names", [(), ("slack",), ALL])
def test_only_configured_platforms_are_available(names: tuple[str, ...]) -> None:
    assert tuple(make_channels(names, deps())) == names


@pytest.mark.parametrize("name", ["irc", "console"])
def test_the_error_for_an_unknown_platform_lists_the_known_ones(name: str) -> None:
    message = f"CHANNELS: {name} is none of telegram, slack, discord"
    with pytest.raises(SettingsError, match=message):
        make_channels(("slack", name), deps())


@pytest.mark.parametrize("name", [*ALL, "console"])
def test_each_platform_has_its_own_inbound_adapter(name: str) -> None:
    adapter = find_platform(name).inbound.make(InboundDeps(proofs=TOKENS, new_id=lambda: "new-id"))
    assert type(adapter).__module__ == f"duecourse.adapters.channels.{name}.inbound"


@pytest.mark.parametrize("name", ALL)
def test_each_platform_has_its_own_outbound_adapter(name: str) -> None:
    [adapter] = make_channels((name,), deps()).values()
    assert type(adapter).__module__ == f"duecourse.adapters.channels.{name}.outbound"


@pytest.mark.parametrize("name", ["irc", "Slack", ""])
def test_an_unknown_platform_has_no_inbound_adapter(name: str) -> None:
    with pytest.raises(UnknownPlatformError):
        find_platform(name)


def test_the_console_has_no_inbound_adapter_unless_registered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(registry, "channels", dict)
    with pytest.raises(UnknownPlatformError):
        registry.inbound_parser("console")


def test_every_platform_is_registered_by_its_name() -> None:
    assert {name: platform.name for name, platform in PLATFORMS.items()} == {
        name: name for name in ("console", *ALL)
    }


def test_the_tests_of_all_platforms_cover_every_platform() -> None:
    names = {platform.name for platform in SENDERS}
    assert set(SIGNATURE_HEADER) == names
    assert {platform.name for platform in TESTED_SENDERS} == names


def test_a_platform_without_verification_cannot_be_deployed() -> None:
    for platform in SENDERS:
        unverified = replace(platform.inbound, proof=None)
        with pytest.raises(ValueError, match="must verify"):
            replace(platform, inbound=unverified)


@pytest.mark.parametrize("platform", SENDERS, ids=lambda platform: str(platform.name))
def test_every_platform_with_buttons_accepts_our_longest_command(platform: Platform) -> None:
    assert platform.outbound is not None
    limits = platform.outbound.limits
    longest = "x" * COMMAND_LIMIT
    assert limits.most_buttons > 0
    assert limits.command_size(longest) <= limits.longest_command


@pytest.mark.parametrize(
    ("names", "expected"), [((), None), (ALL, None), (("slack", "console"), "console")]
)
def test_the_default_channel_is_the_console_if_available(names: Any, expected: str | None) -> None:
    assert default_channel(names) == expected


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ((), None),
        (("log",), None),  # a line in a log reaches nobody unless somebody chose that
        (("log", "email", *ALL), "email"),
        (("email", "console"), "console"),
    ],
)
def test_the_default_channel_of_reminders_is_email_if_there_is_no_console(
    names: Any, expected: str | None
) -> None:
    assert default_reminder_channel(names) == expected


@pytest.mark.parametrize(
    ("topic", "names"), [(None, ["log"]), (_Topic(), ["log", "email"])], ids=["none", "topic"]
)
def test_the_log_is_always_available_and_email_with_a_topic(
    topic: _Topic | None, names: list[str]
) -> None:
    assert [*make_send_only(deps(topic))] == names


def test_a_channel_that_only_sends_need_not_be_named_and_may_be() -> None:
    assert [*make_channels(("log", "email", "slack"), deps())] == ["slack"]


def test_no_channel_that_only_sends_is_also_a_platform() -> None:
    assert not SEND_ONLY.keys() & PLATFORMS.keys()
    assert {name: one.name for name, one in SEND_ONLY.items()} == {"log": "log", "email": "email"}
