"""Fixtures that replace the network and the clock."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.builders.moments import NOW
from tests.support.fakes.clock import ManualClock
from tests.support.receiver import Receiver


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW)
