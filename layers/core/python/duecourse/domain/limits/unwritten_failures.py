"""Failures of a provider that this container has seen and not written to the breaker yet.

A closed breaker is not written with every failure: each container collects its own, so that
hundreds of failures a second do not compete for one item.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from duecourse.domain.limits.breaker_results import ProviderFailure, record_failures
from duecourse.domain.limits.circuit_breaker import (
    DEFAULT_RULES,
    CircuitBreaker,
    CircuitBreakerRules,
    CircuitState,
)

MIN_WRITTEN = 2  # an isolated failure is never written
WRITE_INTERVAL = timedelta(seconds=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class UnwrittenFailures:
    """`reached_at`: the last call known here to have reached the provider.

    `written_at`: when this container last wrote failures of the provider.
    """

    failures: tuple[ProviderFailure, ...] = ()
    reached_at: datetime | None = None
    written_at: datetime | None = None

    def add(self, *failures: ProviderFailure) -> UnwrittenFailures:
        """Return these with `failures`. As many as open a breaker are kept, the newest."""
        found = sorted((*self.failures, *failures), key=lambda one: one.failed_at)
        return replace(self, failures=tuple(found[-DEFAULT_RULES.failure_threshold :]))

    def with_reached(self, at: datetime | None) -> UnwrittenFailures:
        """Return these without the failures before `at`, when a call reached the provider."""
        if at is None or (self.reached_at is not None and at <= self.reached_at):
            return self
        later = tuple(one for one in self.failures if one.failed_at >= at)
        return replace(self, failures=later, reached_at=at)

    def is_write_due(
        self,
        breaker: CircuitBreaker,
        *,
        now: datetime,
        rules: CircuitBreakerRules = DEFAULT_RULES,
    ) -> bool:
        """Return whether the failures have to be written to `breaker`, as it was last read.

        At once if they open it, or if one may be the failure of a probe. Otherwise at most once per
        WRITE_INTERVAL, and only if there are MIN_WRITTEN of them.
        """
        if breaker.state is CircuitState.OPEN:
            return self._has_probe_of(breaker)
        after = self.apply(breaker, now=now, rules=rules)
        if after.state is not CircuitState.CLOSED:
            return after != breaker
        is_interval_over = self.written_at is None or now - self.written_at >= WRITE_INTERVAL
        return len(self.failures) >= MIN_WRITTEN and is_interval_over

    def _has_probe_of(self, breaker: CircuitBreaker) -> bool:
        """Return whether a run started after the open time: the breaker was read before that."""
        until = breaker.state_until
        return until is None or any(one.started_at >= until for one in self.failures)

    def apply(
        self,
        breaker: CircuitBreaker,
        *,
        now: datetime,
        rules: CircuitBreakerRules = DEFAULT_RULES,
    ) -> CircuitBreaker:
        """Return the breaker after these failures."""
        return record_failures(
            breaker, self.failures, reached_at=self.reached_at, now=now, rules=rules
        )
