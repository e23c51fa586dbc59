"""Each of these tests is made of every chat platform."""

from __future__ import annotations

import pytest

from tests.receiver import Receiver
from tests.unit.channels.line import Line
from tests.unit.channels.platforms import PLATFORMS, Platform
from tests.unit.fakes import ManualClock


@pytest.fixture(params=PLATFORMS, ids=str)
def platform(request: pytest.FixtureRequest) -> Platform:
    found: Platform = request.param
    return found


@pytest.fixture
def line(platform: Platform, receiver: Receiver, clock: ManualClock) -> Line:
    return Line(platform, receiver, clock)
