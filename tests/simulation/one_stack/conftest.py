"""One stack per module, reset for each test. A reset does not set the clock back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.stack_client import StackClient, running_stack


@pytest.fixture(scope="module")
def shared() -> Iterator[StackClient]:
    with running_stack() as started:
        yield started


@pytest.fixture
def client(shared: StackClient) -> StackClient:
    assert shared.call("POST", "/_local/reset").status == 200
    return shared
