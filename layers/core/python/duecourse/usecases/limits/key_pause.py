"""Pause a provider that refuses our key, so that its other tasks wait until the key is renewed.

The task that was refused first asks a person. The pause is a state of the provider's circuit
breaker, which lets one task probe the provider now and then.
"""

from __future__ import annotations

from datetime import datetime

from duecourse.domain.limits.breaker_results import record_refused_key
from duecourse.domain.limits.circuit_breaker import CircuitBreaker, reject
from duecourse.domain.tasks.run import Run
from duecourse.domain.tasks.wait import Wait, WaitReason
from duecourse.usecases.limits.circuit_breaker import BreakerDeps, update_breaker


def pause_for_key(
    provider: str, run: Run, task_id: str, *, breakers: BreakerDeps, now: datetime
) -> Wait | None:
    """Record that the provider refused our key in the run; return until when its task waits.

    None if its task has to ask a person. That is recorded before the failure is, by the run: if
    the failure is processed again after a crash, the same task asks.
    """

    def decide(breaker: CircuitBreaker) -> tuple[CircuitBreaker, CircuitBreaker]:
        after = record_refused_key(breaker, run.id, started_at=run.started_at, now=now)
        return after, after

    cached = breakers.store.get_cached(provider).breaker
    after = decide(cached)[0]
    if after != cached:
        after = update_breaker(provider, decide, breakers=breakers, now=now) or after
    if after.refused_run_id == run.id:
        return None
    rejected = reject(task_id, not_before=max(after.state_until or now, now))
    return breaker_wait(provider, rejected.retry_at, is_key_refused=True)


def breaker_wait(provider: str, until: datetime, *, is_key_refused: bool) -> Wait:
    refusal = {"key_refused": True} if is_key_refused else {}
    detail = {"provider": provider, **refusal}
    return Wait(WaitReason.CIRCUIT_BREAKER, until=until, detail=detail)
