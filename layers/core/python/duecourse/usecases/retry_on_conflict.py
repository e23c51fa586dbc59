"""Repeat a read and its conditional write when another writer was faster."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from duecourse.ports.runtime import Backoff

T = TypeVar("T")


def retry_on_conflict(
    operation: Callable[[int], T],
    *,
    conflict: type[Exception],
    max_attempts: int,
    backoff: Backoff = lambda _: None,
) -> T:
    """Return what `operation` returns, calling it again each time it raises `conflict`.

    `operation` receives the number of the attempt, starting at 1, and must read the current state
    on every attempt after the first. `backoff` is called between two attempts. The last attempt's
    `conflict` and every other error are raised.
    """
    for attempt in range(1, max_attempts):
        try:
            return operation(attempt)
        except conflict:
            backoff(attempt)
    return operation(max_attempts)
