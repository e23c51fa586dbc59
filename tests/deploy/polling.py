"""Wait for what happens in another process, up to a limit."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
_INTERVAL = 1.0  # seconds


def wait_until(read: Callable[[], T | None], *, seconds: float, message: Callable[[], str]) -> T:
    """Return the first true result of `read`. Fails with `message` after so many seconds."""
    deadline = time.monotonic() + seconds
    while not (result := read()):
        assert time.monotonic() < deadline, f"after {seconds:g} seconds: {message()}"
        time.sleep(_INTERVAL)
    return result
