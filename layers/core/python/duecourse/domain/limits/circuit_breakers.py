"""The circuit breakers of all providers, and the events when one opens or closes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from duecourse.domain.errors import DuecourseError
from duecourse.domain.limits.circuit_breaker import CircuitBreaker, CircuitState, breaker_at
from duecourse.domain.tasks.event import Event, EventType
from duecourse.domain.time.instant import to_text

NAME_LIMIT = 64
MAX_BREAKERS = 100
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class StaleCircuitBreakersError(DuecourseError):
    """Another writer changed the breakers first; nothing was written."""

    def __init__(self) -> None:
        super().__init__("another process changed the circuit breakers at the same time")


@dataclass(frozen=True, slots=True)
class CircuitBreakers:
    """The breakers by provider, at most MAX_BREAKERS.

    Beyond that, closed breakers without failures are dropped first and open ones last; among
    equals, the least recently changed goes first.

    - `unreadable`: stored breakers that this version of the code cannot read. They count as closed
      and are written back as they are, until this version has a state of its own to store for the
      provider.
    - `is_read_only`: newer code wrote all of them in another form. They count as closed, and
      nothing is stored.
    """

    breakers: Mapping[str, CircuitBreaker] = field(default_factory=dict)
    version: int = 0
    unreadable: Mapping[str, Any] = field(default_factory=dict)
    is_read_only: bool = False

    def get(self, provider: str) -> CircuitBreaker:
        """Return the provider's breaker, or a closed one if the provider is unknown."""
        return self.breakers.get(provider_key(provider), CircuitBreaker())

    def snapshot(self, now: datetime) -> list[tuple[str, CircuitBreaker]]:
        """Return all breakers as of `now`, sorted by provider."""
        return [(name, breaker_at(one, now=now)) for name, one in sorted(self.breakers.items())]

    def with_breaker(self, provider: str, breaker: CircuitBreaker) -> CircuitBreakers:
        key = provider_key(provider)
        breakers = {**self.breakers, key: breaker}
        while len(breakers) > MAX_BREAKERS:
            del breakers[min(breakers, key=lambda name: _retention_rank(breakers[name]))]
        unreadable = {name: stored for name, stored in self.unreadable.items() if name != key}
        return replace(self, breakers=breakers, version=self.version + 1, unreadable=unreadable)


def _retention_rank(breaker: CircuitBreaker) -> tuple[bool, bool, datetime]:
    last = max((*breaker.failed_at, breaker.state_changed_at or _EPOCH))
    return breaker.state is not CircuitState.CLOSED, breaker.failures > 0, last


def provider_key(provider: str) -> str:
    return provider[:NAME_LIMIT]


def journal_key(provider: str) -> str:
    """Return the key of a breaker's events in the journal, used in place of a task id."""
    return f"breaker#{provider_key(provider)}"


def transition_event(
    provider: str, old: CircuitBreaker, new: CircuitBreaker, *, at: datetime
) -> Event | None:
    """Return the event if the breaker opened, reopened or closed, else None."""
    key, name = journal_key(provider), provider_key(provider)
    if (
        new.state is CircuitState.OPEN
        and old.state is not CircuitState.OPEN
        and new.state_until is not None
    ):
        detail = {"provider": name, "failures": new.failures, "until": to_text(new.state_until)}
        return Event(EventType.BREAKER_OPENED, key, at, detail)
    if new.state is CircuitState.CLOSED and old.opened_at is not None:
        detail = {"provider": name, "failures": old.failures, "opened_at": to_text(old.opened_at)}
        return Event(EventType.BREAKER_CLOSED, key, at, detail)
    return None
