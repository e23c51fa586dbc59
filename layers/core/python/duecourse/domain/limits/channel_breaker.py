"""The circuit breaker of a chat channel: open while the channel has no valid token.

It is stored and shown like a provider's. One refusal opens it, and one success closes it.
"""

from __future__ import annotations

from datetime import timedelta

from duecourse.domain.limits.circuit_breaker import CircuitBreakerRules
from duecourse.domain.tasks.task import CHANNEL_PREFIX

CHANNEL_RULES = CircuitBreakerRules(
    failure_threshold=1, max_open_time=timedelta(minutes=5), closes_at_once=True
)
# After that, a refused token is a failure like any other. A shorter limit of uncounted waits comes
# first.
MAX_CHANNEL_WAIT = timedelta(days=3)


def channel_breaker_name(channel: str) -> str:
    return f"{CHANNEL_PREFIX}{channel}"


def channel_of_breaker(name: str) -> str | None:
    """Return the channel whose breaker it is, or None if it is a provider's."""
    return name.removeprefix(CHANNEL_PREFIX) if name.startswith(CHANNEL_PREFIX) else None
