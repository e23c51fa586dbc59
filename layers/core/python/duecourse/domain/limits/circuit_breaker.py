"""A breaker per provider: it parks work for a provider that is down, and lets it back gradually.

Closed, open, half open, returning, closed again; a failure opens it from each of them.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from duecourse.domain.time.instant import to_text, truncate_to_millisecond

_MAX_DOUBLINGS = 16


class CircuitState(StrEnum):
    CLOSED = "closed"  # all is let through, until failures in a row open it
    OPEN = "open"  # nothing is, until its time is over: whoever asks next is the probe
    HALF_OPEN = "half_open"  # the probe alone; its result moves it on, or the end of its lease
    RETURNING = "returning"  # so many a window, then twice as many; time alone moves it on


@dataclass(frozen=True, kw_only=True, slots=True)
class CircuitBreakerRules:
    """It opens at so many `failures` in a row `within` a time.

    `probe_lease` outlives a worker: a probe not heard of by then has died.
    """

    failure_threshold: int = 10
    failure_window: timedelta = timedelta(minutes=5)
    initial_open_time: timedelta = timedelta(minutes=1)
    max_open_time: timedelta = timedelta(minutes=15)
    probe_lease: timedelta = timedelta(minutes=2)
    window: timedelta = timedelta(minutes=1)
    initial_window_limit: int = 2
    max_window_limit: int = 64

    def open_time(self, reopen_count: int) -> timedelta:
        growth: int = 2 ** min(reopen_count, _MAX_DOUBLINGS)
        return min(self.initial_open_time * growth, self.max_open_time)


DEFAULT_RULES = CircuitBreakerRules()


@dataclass(frozen=True, kw_only=True, slots=True)
class CircuitBreaker:
    """`failures` counts those in a row, then all of the outage; `failed_at` is when, while closed.

    `since` is when it last opened, let a probe through or began to return: what a run that began
    earlier has to tell is out of date. `until` ends the state it is in (open time, probe's lease,
    window), `opened_at` began the outage, `reopened` doubles the time it is open. While
    returning, `admitted` of `step` starts were let through in this window.
    """

    state: CircuitState = CircuitState.CLOSED
    failures: int = 0
    failed_at: tuple[datetime, ...] = ()
    opened_at: datetime | None = None
    state_changed_at: datetime | None = None
    state_until: datetime | None = None
    reopen_count: int = 0
    probe_task_id: str | None = None
    window_limit: int = 0
    window_admitted: int = 0

    @property
    def limit_per_minute(self) -> int | None:
        """None: no limit. A probe is no rate."""
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
    """The run may begin."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """Ask again then: no run began, and nothing is counted."""

    retry_at: datetime


Admission = Admitted | Rejected


def decide_admission(
    breaker: CircuitBreaker,
    task_id: str,
    *,
    now: datetime,
    rules: CircuitBreakerRules = DEFAULT_RULES,
) -> tuple[CircuitBreaker, Admission]:
    """Whether a task may use the provider now, and the breaker after that was said."""
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
            # The message may come twice; the claim lets one of them through.
            if breaker.probe_task_id == task_id:
                return breaker, Admitted()
    return breaker, reject(task_id, not_before=_next_attempt_at(breaker, now, rules), rules=rules)


def reject(
    task_id: str, *, not_before: datetime, rules: CircuitBreakerRules = DEFAULT_RULES
) -> Rejected:
    """Within a window after the instant: each task at its own moment, and another each time,
    so that it is not always the same one that becomes the probe."""
    digest = hashlib.sha256(f"{task_id}\0{to_text(not_before)}".encode()).digest()
    share = int.from_bytes(digest[:4]) / 2**32
    return Rejected(truncate_to_millisecond(not_before + rules.window * share))


def record_failure(
    breaker: CircuitBreaker,
    *,
    started_at: datetime,
    now: datetime,
    rules: CircuitBreakerRules = DEFAULT_RULES,
) -> CircuitBreaker:
    """A run that began then found the provider down."""
    now = truncate_to_millisecond(now)
    breaker = breaker_at(breaker, now=now, rules=rules)
    if breaker.state is CircuitState.OPEN or breaker.is_outdated_report(started_at):
        return breaker
    if breaker.state is not CircuitState.CLOSED:
        again = replace(
            breaker, failures=breaker.failures + 1, reopen_count=breaker.reopen_count + 1
        )
        return _open(again, now=now, rules=rules)
    recent = tuple(at for at in breaker.failed_at if now - at <= rules.failure_window)
    counted = replace(breaker, failed_at=(*recent, now), failures=len(recent) + 1)
    if counted.failures < rules.failure_threshold:
        return counted
    return _open(counted, now=now, rules=rules)


def record_success(
    breaker: CircuitBreaker,
    *,
    started_at: datetime,
    now: datetime,
    rules: CircuitBreakerRules = DEFAULT_RULES,
) -> CircuitBreaker:
    """A run that began then found the provider there, whatever else became of it."""
    now = truncate_to_millisecond(now)
    breaker = breaker_at(breaker, now=now, rules=rules)
    if breaker.is_outdated_report(started_at):
        return breaker
    match breaker.state:
        case CircuitState.CLOSED if breaker.failed_at:
            return CircuitBreaker(state_changed_at=breaker.state_changed_at)
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


def breaker_at(
    breaker: CircuitBreaker, *, now: datetime, rules: CircuitBreakerRules = DEFAULT_RULES
) -> CircuitBreaker:
    """A returning breaker takes a step with each window that passes, and closes after the last."""
    until = breaker.state_until
    if breaker.state is not CircuitState.RETURNING or until is None or now < until:
        return breaker
    passed = (now - until) // rules.window + 1
    step = breaker.window_limit * 2 ** min(passed, _MAX_DOUBLINGS)
    if step > rules.max_window_limit:
        # `since` stays: runs let through while it returned may still have a failure to tell.
        return CircuitBreaker(state_changed_at=breaker.state_changed_at)
    return replace(
        breaker, window_limit=step, window_admitted=0, state_until=until + rules.window * passed
    )


def _open(breaker: CircuitBreaker, *, now: datetime, rules: CircuitBreakerRules) -> CircuitBreaker:
    return CircuitBreaker(
        state=CircuitState.OPEN,
        failures=breaker.failures,
        opened_at=breaker.opened_at or now,
        state_changed_at=now,
        state_until=now + rules.open_time(breaker.reopen_count),
        reopen_count=breaker.reopen_count,
    )


def _start_probe(
    breaker: CircuitBreaker, task_id: str, *, now: datetime, rules: CircuitBreakerRules
) -> CircuitBreaker:
    # A probe that outlives its lease is still believed: `since` stays that of the first.
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
    """A probe mostly answers long before its lease ends."""
    ends_at = breaker.state_until or now
    return min(ends_at, now + rules.window) if breaker.state is CircuitState.HALF_OPEN else ends_at
