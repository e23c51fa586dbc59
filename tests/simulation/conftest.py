from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.stack_client import StackClient, running_stack


@pytest.fixture
def client() -> Iterator[StackClient]:
    with running_stack() as started:
        yield started
