"""What the results of calls change in a circuit breaker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from duecourse.domain.limits.circuit_breaker import (
    DEFAULT_RULES,
    CircuitBreaker,
    CircuitBreakerRules,
    CircuitState,
    breaker_at,
)
from duecourse.domain.time.instant import truncate_to_millisecond

# One refusal is enough: a key is valid or not. Each probe is a run of a task: a key that is refused
# for a week must not leave hundreds.
KEY_RULES = CircuitBreakerRules(failure_threshold=1, max_open_time=timedelta(minutes=30))


@dataclass(frozen=True, slots=True)
class ProviderFailure:
    """A run found the provider down."""

    started_at: datetime
    failed_at: datetime


def record_failures(
    breaker: CircuitBreaker,
    failures: Sequence[ProviderFailure],
    *,
    reached_at: datetime | None,
    now: datetime,
    rules: CircuitBreakerRules = DEFAULT_RULES,
) -> CircuitBreaker:
    """Return the breaker after `failures`, of which those before `reached_at` do not count.

    `reached_at` is the last call known to have reached the provider, None if none is known.
    """
    breaker = _forget_failures(breaker_at(breaker, now=now, rules=rules), reached_at)
    for failure in sorted(failures, key=lambda one: one.failed_at):
        breaker = record_failure(
            breaker,
            started_at=failure.started_at,
            failed_at=failure.failed_at,
            now=now,
            rules=rules,
        )
    return breaker


def _forget_failures(breaker: CircuitBreaker, reached_at: datetime | None) -> CircuitBreaker:
    is_later = reached_at is not None and (
        breaker.reached_at is None or reached_at > breaker.reached_at
    )
    if breaker.state is not CircuitState.CLOSED or reached_at is None or not is_later:
        return breaker
    later = tuple(at for at in breaker.failed_at if at >= reached_at)
    return replace(breaker, failed_at=later, failures=len(later), reached_at=reached_at)


def record_failure(
    breaker: CircuitBreaker,
    *,
    started_at: datetime,
    now: datetime,
    failed_at: datetime | None = None,
    rules: CircuitBreakerRules = DEFAULT_RULES,
) -> CircuitBreaker:
    """Return the breaker after a run, started at `started_at`, found the provider down.

    `failed_at` is when the run failed, `now` by default.
    """
    now = truncate_to_millisecond(now)
    breaker = breaker_at(breaker, now=now, rules=rules)
    if breaker.state is CircuitState.OPEN or breaker.is_outdated_report(started_at):
        return breaker
    if breaker.state is not CircuitState.CLOSED:
        reopened = replace(
            breaker, failures=breaker.failures + 1, reopen_count=breaker.reopen_count + 1
        )
        return _open(reopened, now=now, rules=rules)
    counted = _count(breaker, truncate_to_millisecond(failed_at or now), rules)
    if counted.failures < rules.failure_threshold:
        return counted
    return _open(counted, now=now, rules=rules)


def record_refused_key(
    breaker: CircuitBreaker, run_id: str, *, started_at: datetime, now: datetime
) -> CircuitBreaker:
    """Return the breaker after the provider refused our key: open until it accepts a probe.

    A breaker that is open for another reason stays open, and knows of the key then. The refusal is
    ignored if the provider accepted a call that started later.
    """
    after = record_failure(breaker, started_at=started_at, now=now, rules=KEY_RULES)
    if after.state not in (CircuitState.OPEN, CircuitState.HALF_OPEN):
        return after
    return replace(after, is_key_refused=True, refused_run_id=breaker.refused_run_id or run_id)


def _count(breaker: CircuitBreaker, at: datetime, rules: CircuitBreakerRules) -> CircuitBreaker:
    """Return the closed breaker with one more failure, unless the provider was reached since.

    Reports may be late, so the window ends with the last failure and not now.
    """
    if breaker.reached_at is not None and at < breaker.reached_at:
        return breaker
    last = max((*breaker.failed_at, at))
    recent = tuple(one for one in (*breaker.failed_at, at) if last - one <= rules.failure_window)
    return replace(breaker, failed_at=tuple(sorted(recent)), failures=len(recent))


def record_success(
    breaker: CircuitBreaker,
    *,
    started_at: datetime,
    now: datetime,
    rules: CircuitBreakerRules = DEFAULT_RULES,
) -> CircuitBreaker:
    """Return the breaker after a run reached the provider, even if the run failed otherwise."""
    now = truncate_to_millisecond(now)
    breaker = breaker_at(breaker, now=now, rules=rules)
    if breaker.is_outdated_report(started_at):
        return breaker
    match breaker.state:
        case CircuitState.CLOSED if breaker.failed_at:
            return CircuitBreaker(state_changed_at=breaker.state_changed_at, reached_at=now)
        case CircuitState.HALF_OPEN if rules.closes_at_once or breaker.is_key_refused:
            return CircuitBreaker(state_changed_at=now)
        case CircuitState.HALF_OPEN:
            return replace(
                breaker,
                state=CircuitState.RETURNING,
                probe_task_id=None,
                state_changed_at=now,
                state_until=now + rules.window,
                window_limit=rules.initial_window_limit,
            )
    return breaker


def _open(breaker: CircuitBreaker, *, now: datetime, rules: CircuitBreakerRules) -> CircuitBreaker:
    return CircuitBreaker(
        state=CircuitState.OPEN,
        failures=breaker.failures,
        opened_at=breaker.opened_at or now,
        state_changed_at=now,
        state_until=now + rules.open_time(breaker.reopen_count),
        reopen_count=breaker.reopen_count,
        is_key_refused=breaker.is_key_refused,
        refused_run_id=breaker.refused_run_id,
    )
