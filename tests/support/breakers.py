"""Record results of calls to a provider, as the worker and the failure function do."""

from __future__ import annotations

from datetime import datetime

from duecourse.domain.limits.breaker_results import ProviderFailure
from duecourse.usecases.limits.circuit_breaker import BreakerDeps, record_down, record_reached

from tests.support.builders.moments import NOW


def fail(
    breakers: BreakerDeps, times: int = 1, *, provider: str = "llm", now: datetime = NOW
) -> None:
    for _ in range(times):
        failure = ProviderFailure(now, now)
        record_down(provider, failure, reached_at=None, breakers=breakers, now=now)


def succeed(breakers: BreakerDeps, *, provider: str = "llm", now: datetime = NOW) -> None:
    read = breakers.store.get_last_read(provider)
    record_reached(provider, read, started_at=now, breakers=breakers, now=now)
