"""Ask a provider's circuit breaker for admission, and report results to it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from duecourse.domain.limits.circuit_breaker import (
    Admission,
    CircuitBreaker,
    CircuitState,
    breaker_at,
    decide_admission,
    record_failure,
    record_success,
    reject,
)
from duecourse.domain.limits.circuit_breakers import StaleCircuitBreakersError, transition_event
from duecourse.ports.limits import CircuitBreakerStore
from duecourse.usecases.retry_on_conflict import retry_on_conflict

T = TypeVar("T")
MAX_ATTEMPTS = 5


def admit(
    provider: str, task_id: str, *, breakers: CircuitBreakerStore, now: datetime
) -> Admission:
    """Return whether the task may call the provider now.

    A task that loses every race for the breaker is rejected, because others were admitted
    meanwhile.
    """

    def decide(breaker: CircuitBreaker) -> tuple[CircuitBreaker, Admission]:
        return decide_admission(breaker, task_id, now=now)

    admission = _update_breaker(provider, decide, breakers=breakers, now=now)
    return admission or reject(task_id, not_before=now)


def record_result(
    provider: str,
    *,
    is_down: bool,
    started_at: datetime,
    breakers: CircuitBreakerStore,
    now: datetime,
) -> CircuitBreaker | None:
    """Record a result and return the breaker; None if every write conflicted.

    A lost result is harmless: more failures follow, and a probe's lease expires.
    """
    record = record_failure if is_down else record_success

    def decide(breaker: CircuitBreaker) -> tuple[CircuitBreaker, CircuitBreaker]:
        updated = record(breaker, started_at=started_at, now=now)
        return updated, updated

    return _update_breaker(provider, decide, breakers=breakers, now=now)


def close_recovered_breakers(breakers: CircuitBreakerStore, *, now: datetime) -> int:
    """Close breakers whose outage is over, even if no task asks them; return how many."""
    recovered = [
        provider
        for provider, breaker in breakers.load().breakers.items()
        if breaker.state is not CircuitState.CLOSED
        and breaker_at(breaker, now=now).state is CircuitState.CLOSED
    ]
    for provider in recovered:
        _update_breaker(
            provider,
            lambda breaker: (breaker_at(breaker, now=now), None),
            breakers=breakers,
            now=now,
        )
    return len(recovered)


def _update_breaker(
    provider: str,
    decide: Callable[[CircuitBreaker], tuple[CircuitBreaker, T]],
    *,
    breakers: CircuitBreakerStore,
    now: datetime,
) -> T | None:
    """Apply `decide` to the current breaker and save it; None after repeated conflicts."""

    def save(_: int) -> T:
        loaded = breakers.load()
        before = loaded.get(provider)
        after, decision = decide(before)
        if after != before and not loaded.is_read_only:
            event = transition_event(provider, before, after, at=now)
            breakers.save(loaded, loaded.with_breaker(provider, after), event)
        return decision

    try:
        return retry_on_conflict(
            save, conflict=StaleCircuitBreakersError, max_attempts=MAX_ATTEMPTS
        )
    except StaleCircuitBreakersError:
        return None
