"""The tests of this folder share a stack per module, and each finds it empty; the clock goes on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.stack_client import StackClient, running_stack


@pytest.fixture(scope="module")
def shared() -> Iterator[StackClient]:
    with running_stack() as running:
        yield running


@pytest.fixture
def client(shared: StackClient) -> StackClient:
    assert shared.call("POST", "/_local/reset").status == 200
    return shared
