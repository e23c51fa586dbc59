"""A circuit breaker per provider: defers work while the provider is down, then ramps it up.

The states are closed, open, half open, returning and closed again. A failure opens it from every
state.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from duecourse.domain.time.instant import to_text, truncate_to_millisecond

_MAX_DOUBLINGS = 16


class CircuitState(StrEnum):
    CLOSED = "closed"  # admits everything until consecutive failures open it
    OPEN = "open"  # rejects everything until `state_until`; the next task is the probe
    HALF_OPEN = "half_open"  # admits only the probe, until it reports or its lease expires
    RETURNING = "returning"  # admits `window_limit` per window and doubles it each window


@dataclass(frozen=True, kw_only=True, slots=True)
class CircuitBreakerRules:
    """The thresholds and times of a circuit breaker.

    It opens after `failure_threshold` consecutive failures within `failure_window`. `probe_lease`
    is longer than a worker can run, so a probe without a result by then has crashed. With
    `closes_at_once` it closes after one successful probe, without returning gradually.
    """

    failure_threshold: int = 10
    failure_window: timedelta = timedelta(minutes=5)
    initial_open_time: timedelta = timedelta(minutes=1)
    max_open_time: timedelta = timedelta(minutes=15)
    probe_lease: timedelta = timedelta(minutes=2)
    window: timedelta = timedelta(minutes=1)
    initial_window_limit: int = 2
    max_window_limit: int = 64
    closes_at_once: bool = False

    def open_time(self, reopen_count: int) -> timedelta:
        growth: int = 2 ** min(reopen_count, _MAX_DOUBLINGS)
        return min(self.initial_open_time * growth, self.max_open_time)


DEFAULT_RULES = CircuitBreakerRules()


@dataclass(frozen=True, kw_only=True, slots=True)
class CircuitBreaker:
    """The state of one circuit breaker.

    - `failures`: consecutive while closed, total of the outage while open.
    - `failed_at`: the times of recent failures while closed.
    - `reached_at`: the last call that reached the provider, as far as it was written. Failures
      before that do not count.
    - `opened_at`: when the outage began.
    - `state_changed_at`: when it last opened, started its first probe or began to return. Results
      of runs that started earlier are ignored.
    - `state_until`: when the open time, the probe's lease or the window ends.
    - `reopen_count`: how often it opened again; each time doubles the open time.
    - `window_admitted` of `window_limit` runs have started in this window, while returning.
    - `is_key_refused`: the provider did not accept our key, and has accepted no call since.
    - `refused_run_id`: the run that was refused first. Its task asks a person.
    """

    state: CircuitState = CircuitState.CLOSED
    failures: int = 0
    failed_at: tuple[datetime, ...] = ()
    reached_at: datetime | None = None
    opened_at: datetime | None = None
    state_changed_at: datetime | None = None
    state_until: datetime | None = None
    reopen_count: int = 0
    probe_task_id: str | None = None
    window_limit: int = 0
    window_admitted: int = 0
    is_key_refused: bool = False
    refused_run_id: str | None = None

    @property
    def limit_per_minute(self) -> int | None:
        """How many runs may start per window; None: no limit. A probe is no rate."""
        return None if self.state is CircuitState.CLOSED else self.window_limit

    def is_state_over(self, now: datetime) -> bool:
        return self.state_until is None or self.state_until <= now

    def is_outdated_report(self, started_at: datetime) -> bool:
        return (
            self.state_changed_at is not None
            and truncate_to_millisecond(started_at) < self.state_changed_at
        )


@dataclass(frozen=True, slots=True)
class Admitted:
    """The run may start."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """The run may not start. Ask again at `retry_at`; no retry is counted."""

    retry_at: datetime


Admission = Admitted | Rejected


def decide_admission(
    breaker: CircuitBreaker,
    task_id: str,
    *,
    now: datetime,
    rules: CircuitBreakerRules = DEFAULT_RULES,
) -> tuple[CircuitBreaker, Admission]:
    """Return the updated breaker, and whether the task may call the provider now."""
    now = truncate_to_millisecond(now)
    breaker = breaker_at(breaker, now=now, rules=rules)
    match breaker.state:
        case CircuitState.CLOSED:
            return breaker, Admitted()
        case CircuitState.RETURNING:
            if breaker.window_admitted < breaker.window_limit:
                return replace(breaker, window_admitted=breaker.window_admitted + 1), Admitted()
        case CircuitState.OPEN | CircuitState.HALF_OPEN:
            if breaker.is_state_over(now):
                return _start_probe(breaker, task_id, now=now, rules=rules), Admitted()
            # The probe's message may be delivered twice; only one delivery can claim the task.
            if breaker.probe_task_id == task_id:
                return breaker, Admitted()
    return breaker, reject(task_id, not_before=_next_attempt_at(breaker, now, rules), rules=rules)


def reject(
    task_id: str, *, not_before: datetime, rules: CircuitBreakerRules = DEFAULT_RULES
) -> Rejected:
    """Reject the task until a moment within one window after `not_before`.

    The moment is derived from `task_id` and `not_before`: tasks are spread, and each time in
    another order, so that the probe is not always the same task.
    """
    digest = hashlib.sha256(f"{task_id}\0{to_text(not_before)}".encode()).digest()
    share = int.from_bytes(digest[:4]) / 2**32
    return Rejected(truncate_to_millisecond(not_before + rules.window * share))


def breaker_at(
    breaker: CircuitBreaker, *, now: datetime, rules: CircuitBreakerRules = DEFAULT_RULES
) -> CircuitBreaker:
    """Return the breaker as of `now`.

    A returning breaker doubles its limit with each window that passed, and closes once the limit
    exceeds `max_window_limit`.
    """
    until = breaker.state_until
    if breaker.state is not CircuitState.RETURNING or until is None or now < until:
        return breaker
    passed = (now - until) // rules.window + 1
    step = breaker.window_limit * 2 ** min(passed, _MAX_DOUBLINGS)
    if step > rules.max_window_limit:
        # `state_changed_at` stays: runs admitted while returning may still report a failure.
        return CircuitBreaker(state_changed_at=breaker.state_changed_at)
    return replace(
        breaker, window_limit=step, window_admitted=0, state_until=until + rules.window * passed
    )


def _start_probe(
    breaker: CircuitBreaker, task_id: str, *, now: datetime, rules: CircuitBreakerRules
) -> CircuitBreaker:
    # A first probe that outlives its lease still counts, so `state_changed_at` stays.
    since = now if breaker.state is CircuitState.OPEN else breaker.state_changed_at
    return replace(
        breaker,
        state=CircuitState.HALF_OPEN,
        probe_task_id=task_id,
        state_changed_at=since,
        state_until=now + rules.probe_lease,
    )


def _next_attempt_at(
    breaker: CircuitBreaker, now: datetime, rules: CircuitBreakerRules
) -> datetime:
    """Return when a rejected task should ask again.

    At most one window later while a probe runs: it mostly answers long before its lease ends.
    """
    ends_at = breaker.state_until or now
    return min(ends_at, now + rules.window) if breaker.state is CircuitState.HALF_OPEN else ends_at
