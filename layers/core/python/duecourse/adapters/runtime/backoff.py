"""Waiting a moment before trying again, each for a time of its own."""

from __future__ import annotations

import time
from random import SystemRandom

_SHORTEST = 0.02
_LONGEST = 0.5


def jittered_pause(tries: int) -> None:
    """Whoever clashed does not clash again by waiting the same time."""
    time.sleep(SystemRandom().uniform(0, min(_SHORTEST * 2**tries, _LONGEST)))
