"""Waiting a moment before trying again, each for a time of its own."""

from __future__ import annotations

import time
from random import SystemRandom

_BASE_SECONDS = 0.02
_MAX_SECONDS = 0.5


def sleep_with_jitter(attempt: int) -> None:
    """Whoever clashed does not clash again by waiting the same time."""
    time.sleep(SystemRandom().uniform(0, min(_BASE_SECONDS * 2**attempt, _MAX_SECONDS)))
