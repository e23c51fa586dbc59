"""Each of these tests is made of every chat platform."""

from __future__ import annotations

import pytest

from tests.support.fakes.clock import ManualClock
from tests.support.receiver import Receiver
from tests.unit.adapters.channels.all_platforms.line import Line
from tests.unit.adapters.channels.all_platforms.platforms import PLATFORMS, Platform


@pytest.fixture(params=PLATFORMS, ids=str)
def platform(request: pytest.FixtureRequest) -> Platform:
    found: Platform = request.param
    return found


@pytest.fixture
def line(platform: Platform, receiver: Receiver, clock: ManualClock) -> Line:
    return Line(platform, receiver, clock)
