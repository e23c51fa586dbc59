"""Fixtures that run each test once per chat platform."""

from __future__ import annotations

import pytest

from tests.support.fakes.clock import ManualClock
from tests.support.receiver import Receiver
from tests.unit.adapters.channels.all_platforms.platform_harness import PlatformHarness
from tests.unit.adapters.channels.all_platforms.platforms import PLATFORMS, Platform


@pytest.fixture(params=PLATFORMS, ids=str)
def platform(request: pytest.FixtureRequest) -> Platform:
    parameter: Platform = request.param
    return parameter


@pytest.fixture
def harness(platform: Platform, receiver: Receiver, clock: ManualClock) -> PlatformHarness:
    return PlatformHarness(platform, receiver, clock)
