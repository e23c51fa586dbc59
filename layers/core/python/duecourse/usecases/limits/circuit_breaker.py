"""Ask a provider's circuit breaker for admission, and report results to it.

A closed breaker is read from a copy that is a few seconds old, and failures are collected in each
container before they are written. Only a breaker that is about to change is read and written
exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from duecourse.domain.limits.breaker_results import ProviderFailure, record_success
from duecourse.domain.limits.circuit_breaker import (
    DEFAULT_RULES,
    Admission,
    CircuitBreaker,
    CircuitBreakerRules,
    CircuitState,
    breaker_at,
    decide_admission,
    reject,
)
from duecourse.domain.limits.circuit_breakers import (
    StaleCircuitBreakerError,
    StoredBreaker,
    transition_event,
)
from duecourse.domain.limits.unwritten_failures import UnwrittenFailures
from duecourse.usecases.limits.container_results import ContainerResults
from duecourse.usecases.retry_on_conflict import retry_on_conflict

if TYPE_CHECKING:
    from duecourse.ports.limits import CircuitBreakerStore

T = TypeVar("T")
MAX_ATTEMPTS = 6  # five writes of two failures each open a breaker, and then no writer is left


@dataclass(frozen=True)
class BreakerDeps:
    """`results` is what this container saw of each provider and did not write."""

    store: CircuitBreakerStore
    results: ContainerResults = field(default_factory=ContainerResults)


def admit(
    provider: str,
    task_id: str,
    *,
    breakers: BreakerDeps,
    now: datetime,
    rules: CircuitBreakerRules = DEFAULT_RULES,
) -> Admission:
    """Return whether the task may call the provider now.

    A task that loses every race for the breaker is rejected, because others were admitted
    meanwhile.
    """

    def decide(breaker: CircuitBreaker) -> tuple[CircuitBreaker, Admission]:
        return decide_admission(breaker, task_id, now=now, rules=rules)

    cached = breakers.store.get_cached(provider).breaker
    after, admission = decide(cached)
    if after == cached:
        return admission
    exact = update_breaker(provider, decide, breakers=breakers, now=now)
    return exact or reject(task_id, not_before=now)


def record_reached(
    provider: str,
    read: StoredBreaker,
    *,
    started_at: datetime,
    breakers: BreakerDeps,
    now: datetime,
) -> None:
    """Record that a run reached the provider, even if the run failed otherwise.

    It is written only if the breaker had failures or waited for a probe when it was `read`.
    """
    breakers.results.record_reached(provider, now)

    def decide(breaker: CircuitBreaker) -> tuple[CircuitBreaker, None]:
        return record_success(breaker, started_at=started_at, now=now), None

    if decide(read.breaker)[0] != read.breaker:
        update_breaker(provider, decide, breakers=breakers, now=now)


def record_down(
    provider: str,
    failure: ProviderFailure,
    *,
    reached_at: datetime | None,
    breakers: BreakerDeps,
    now: datetime,
) -> None:
    """Record that a run found the provider down; write it with others, or if it opens the breaker.

    `reached_at`: when the run's worker last reached the provider, if it did. A result that is lost
    is harmless: more failures follow, and a probe's lease expires.
    """
    results = breakers.results
    unwritten = results.add_failures(provider, failure, reached_at=reached_at)
    cached = breakers.store.get_cached(provider).breaker
    if unwritten.is_write_due(cached, now=now):
        _write_failures(provider, breakers, now=now)
    elif breaker_at(cached, now=now).state is not CircuitState.CLOSED:
        results.take_failures(provider)  # an open breaker counts none


def _write_failures(provider: str, breakers: BreakerDeps, *, now: datetime) -> None:
    """Write the failures of this container. They stay with it if that fails."""
    unwritten = breakers.results.take_failures(provider)

    def decide(breaker: CircuitBreaker) -> tuple[CircuitBreaker, UnwrittenFailures]:
        return unwritten.apply(breaker, now=now), unwritten

    written = None
    try:
        written = update_breaker(provider, decide, breakers=breakers, now=now)
    finally:
        if written is None:
            breakers.results.add_failures(provider, *unwritten.failures)
        else:
            breakers.results.record_write(provider, now)


def close_recovered_breakers(breakers: BreakerDeps, *, now: datetime) -> int:
    """Close breakers whose outage is over, even if no task asks them; return how many.

    Also keeps room for others in the list of breakers.
    """
    breakers.store.make_room()
    recovered = [
        provider
        for provider, breaker in breakers.store.list_all().items()
        if breaker.state is not CircuitState.CLOSED
        and breaker_at(breaker, now=now).state is CircuitState.CLOSED
    ]
    for provider in recovered:
        update_breaker(
            provider,
            lambda breaker: (breaker_at(breaker, now=now), None),
            breakers=breakers,
            now=now,
        )
    return len(recovered)


def update_breaker(
    provider: str,
    decide: Callable[[CircuitBreaker], tuple[CircuitBreaker, T]],
    *,
    breakers: BreakerDeps,
    now: datetime,
) -> T | None:
    """Apply `decide` to the current breaker and save it; None after repeated conflicts."""
    store = breakers.store

    def save(_: int) -> T:
        stored = store.get(provider)
        after, decision = decide(stored.breaker)
        if after != stored.breaker and not stored.is_read_only:
            event = transition_event(provider, stored.breaker, after, at=now)
            store.save(provider, stored, after, event)
        return decision

    try:
        return retry_on_conflict(save, conflict=StaleCircuitBreakerError, max_attempts=MAX_ATTEMPTS)
    except StaleCircuitBreakerError:
        return None
