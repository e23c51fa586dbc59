from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.platforms import stack_with_platforms
from tests.support.stack_client import StackClient


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[StackClient]:
    """Of a stack that knows what every platform proves itself by."""
    with stack_with_platforms(monkeypatch) as running:
        yield running
