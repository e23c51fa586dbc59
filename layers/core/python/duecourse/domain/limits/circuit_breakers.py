"""Stored circuit breakers, one per provider, and the events when one opens or closes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from duecourse.domain.errors import DuecourseError
from duecourse.domain.limits.circuit_breaker import CircuitBreaker, CircuitState, breaker_at
from duecourse.domain.tasks.event import Event, EventType
from duecourse.domain.time.instant import to_text

NAME_LIMIT = 64
MAX_BREAKERS = 100
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class StaleCircuitBreakerError(DuecourseError):
    """Another writer changed the breaker first; nothing was written."""

    def __init__(self) -> None:
        super().__init__("another process changed the circuit breaker at the same time")


@dataclass(frozen=True, slots=True)
class StoredBreaker:
    """A breaker with the version that a write has to name; 0 if nothing is stored.

    `is_read_only`: newer code wrote it in another form. It counts as closed, and is not replaced.
    """

    breaker: CircuitBreaker = field(default_factory=CircuitBreaker)
    version: int = 0
    is_read_only: bool = False


def snapshot(
    breakers: Mapping[str, CircuitBreaker], now: datetime
) -> list[tuple[str, CircuitBreaker]]:
    """Return all breakers as of `now`, sorted by provider."""
    return [(name, breaker_at(one, now=now)) for name, one in sorted(breakers.items())]


def least_needed(breakers: Mapping[str, CircuitBreaker]) -> list[str]:
    """Return the providers to drop from a list that is full: a quarter, so that it has room.

    Closed breakers without failures go first and open ones last; among equals, the least recently
    changed.
    """
    ranked = sorted(breakers, key=lambda name: _retention_rank(breakers[name]))
    return ranked[: MAX_BREAKERS // 4]


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
