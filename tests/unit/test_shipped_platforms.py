"""Which chat platforms a deployment offers, and who is heard."""

from __future__ import annotations

import pytest
from duecourse.adapters.http.request_errors import UnknownPlatformError
from duecourse.adapters.shipped_platforms import make_channels, make_incoming
from duecourse.domain.errors import SettingsError

from tests.unit.builders import NOW
from tests.unit.chat_cases import POSTER, TOKENS
from tests.unit.fakes import ManualClock

ALL = ("telegram", "slack", "discord")


@pytest.mark.parametrize("names", [(), ("slack",), ALL])
def test_only_what_is_named_is_offered(names: tuple[str, ...]) -> None:
    assert tuple(make_channels(names, POSTER, TOKENS, ManualClock(NOW))) == names


def test_a_name_that_none_has_is_said_with_those_there_are() -> None:
    with pytest.raises(SettingsError, match="CHANNELS: irc is none of telegram, slack, discord"):
        make_channels(("slack", "irc"), POSTER, TOKENS, ManualClock(NOW))


@pytest.mark.parametrize("name", [*ALL, "console"])
def test_each_platform_is_heard_by_an_adapter_of_its_own(name: str) -> None:
    made = make_incoming(name, TOKENS, lambda: "new-id")
    assert type(made).__module__ == f"duecourse.adapters.{name}.incoming"


@pytest.mark.parametrize("name", ["irc", "Slack", ""])
def test_nobody_else_is_heard(name: str) -> None:
    with pytest.raises(UnknownPlatformError):
        make_incoming(name, TOKENS, lambda: "new-id")
