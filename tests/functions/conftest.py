from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.stack_client import StackClient, moto_stack


@pytest.fixture
def client() -> Iterator[StackClient]:
    with moto_stack() as running:
        yield running
