"""Sleep with backoff and jitter between attempts."""

from __future__ import annotations

import time
from random import SystemRandom

_BASE_SECONDS = 0.02
_MAX_SECONDS = 0.5


def sleep_with_jitter(attempt: int) -> None:
    """Sleep for a random time that grows with `attempt`, so two colliding writers separate."""
    time.sleep(SystemRandom().uniform(0, min(_BASE_SECONDS * 2**attempt, _MAX_SECONDS)))
