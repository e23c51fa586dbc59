"""What stands in for the network and for time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.receiver import Receiver
from tests.unit.builders import NOW
from tests.unit.fakes import ManualClock


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW)
