"""Pause a provider that refuses our key, so that its other tasks wait until the key is renewed.

The task that was refused first asks a person. The pause is a state of the provider's circuit
breaker, which lets one task probe the provider now and then.
"""

from __future__ import annotations

from datetime import datetime

from duecourse.domain.limits.breaker_results import record_refused_key
from duecourse.domain.limits.circuit_breaker import (
    CircuitBreaker,
    CircuitState,
    breaker_at,
    reject,
)
from duecourse.domain.tasks.wait import Wait, WaitReason
from duecourse.usecases.limits.circuit_breaker import BreakerDeps, update_breaker


def find_key_wait(
    provider: str, task_id: str, *, breakers: BreakerDeps, now: datetime
) -> Wait | None:
    """Return until when the task waits if the provider is paused for its key already, else None.

    A copy of the breaker that is a few seconds old is enough: at worst, another person is asked.
    """
    breaker = breaker_at(breakers.store.get_cached(provider).breaker, now=now)
    if breaker.state is CircuitState.CLOSED or not breaker.is_key_refused:
        return None
    rejected = reject(task_id, not_before=max(breaker.state_until or now, now))
    return breaker_wait(provider, breaker, rejected.retry_at)


def pause_for_key(
    provider: str, *, started_at: datetime, breakers: BreakerDeps, now: datetime
) -> None:
    """Record that the provider refused our key in a run that started at `started_at`."""

    def decide(breaker: CircuitBreaker) -> tuple[CircuitBreaker, None]:
        return record_refused_key(breaker, started_at=started_at, now=now), None

    cached = breakers.store.get_cached(provider).breaker
    if decide(cached)[0] != cached:
        update_breaker(provider, decide, breakers=breakers, now=now)


def breaker_wait(provider: str, breaker: CircuitBreaker, until: datetime) -> Wait:
    refusal = {"key_refused": True} if breaker.is_key_refused else {}
    detail = {"provider": provider, **refusal}
    return Wait(WaitReason.CIRCUIT_BREAKER, until=until, detail=detail)
