"""Which chat platforms a deployment offers."""

from __future__ import annotations

import pytest
from duecourse.adapters.shipped_channels import make_channels
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
