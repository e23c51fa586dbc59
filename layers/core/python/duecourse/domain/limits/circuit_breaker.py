"""A breaker per provider: it parks work for a provider that is down, and lets it back gradually.

Closed, open, half open, returning, closed again; a failure opens it from each of them.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from duecourse.domain.time.instant import to_millisecond, to_text

_MOST_DOUBLINGS = 16


class State(StrEnum):
    CLOSED = "closed"  # all is let through, until failures in a row open it
    OPEN = "open"  # nothing is, until its time is over: whoever asks next is the probe
    HALF_OPEN = "half_open"  # the probe alone; its result moves it on, or the end of its lease
    RETURNING = "returning"  # so many a window, then twice as many; time alone moves it on


@dataclass(frozen=True, kw_only=True, slots=True)
class BreakerRules:
    """It opens at so many `failures` in a row `within` a time.

    `probe_lease` outlives a worker: a probe not heard of by then has died.
    """

    failures: int = 10
    within: timedelta = timedelta(minutes=5)
    open_for: timedelta = timedelta(minutes=1)
    longest_open: timedelta = timedelta(minutes=15)
    probe_lease: timedelta = timedelta(minutes=2)
    window: timedelta = timedelta(minutes=1)
    first_step: int = 2
    last_step: int = 64

    def shut_for(self, reopened: int) -> timedelta:
        growth: int = 2 ** min(reopened, _MOST_DOUBLINGS)
        return min(self.open_for * growth, self.longest_open)


RULES = BreakerRules()


@dataclass(frozen=True, kw_only=True, slots=True)
class Breaker:
    """`failures` counts those in a row, then all of the outage; `failed_at` is when, while closed.

    `since` is when it last opened, let a probe through or began to return: what a run that began
    earlier has to tell is out of date. `until` ends the state it is in (open time, probe's lease,
    window), `opened_at` began the outage, `reopened` doubles the time it is open. While
    returning, `admitted` of `step` starts were let through in this window.
    """

    state: State = State.CLOSED
    failures: int = 0
    failed_at: tuple[datetime, ...] = ()
    opened_at: datetime | None = None
    since: datetime | None = None
    until: datetime | None = None
    reopened: int = 0
    probe: str | None = None
    step: int = 0
    admitted: int = 0

    @property
    def admits_per_minute(self) -> int | None:
        """None: no limit. A probe is no rate."""
        return None if self.state is State.CLOSED else self.step

    def is_over(self, now: datetime) -> bool:
        return self.until is None or self.until <= now

    def has_outdated(self, began_at: datetime) -> bool:
        return self.since is not None and to_millisecond(began_at) < self.since


@dataclass(frozen=True, slots=True)
class Admitted:
    """The run may begin."""


@dataclass(frozen=True, slots=True)
class Parked:
    """Ask again then: no run began, and nothing is counted."""

    until: datetime


Admission = Admitted | Parked


def admission(
    breaker: Breaker, task_id: str, *, now: datetime, rules: BreakerRules = RULES
) -> tuple[Breaker, Admission]:
    """Whether a task may use the provider now, and the breaker after that was said."""
    now = to_millisecond(now)
    breaker = as_of(breaker, now=now, rules=rules)
    match breaker.state:
        case State.CLOSED:
            return breaker, Admitted()
        case State.RETURNING:
            if breaker.admitted < breaker.step:
                return replace(breaker, admitted=breaker.admitted + 1), Admitted()
        case State.OPEN | State.HALF_OPEN:
            if breaker.is_over(now):
                return _probed(breaker, task_id, now=now, rules=rules), Admitted()
            # The message may come twice; the claim lets one of them through.
            if breaker.probe == task_id:
                return breaker, Admitted()
    return breaker, parked(task_id, after=_next_chance(breaker, now, rules), rules=rules)


def parked(task_id: str, *, after: datetime, rules: BreakerRules = RULES) -> Parked:
    """Within a window after the instant: each task at its own moment, and another each time,
    so that it is not always the same one that becomes the probe."""
    digest = hashlib.sha256(f"{task_id}\0{to_text(after)}".encode()).digest()
    share = int.from_bytes(digest[:4]) / 2**32
    return Parked(to_millisecond(after + rules.window * share))


def after_failure(
    breaker: Breaker, *, began_at: datetime, now: datetime, rules: BreakerRules = RULES
) -> Breaker:
    """A run that began then found the provider down."""
    now = to_millisecond(now)
    breaker = as_of(breaker, now=now, rules=rules)
    if breaker.state is State.OPEN or breaker.has_outdated(began_at):
        return breaker
    if breaker.state is not State.CLOSED:
        again = replace(breaker, failures=breaker.failures + 1, reopened=breaker.reopened + 1)
        return _opened(again, now=now, rules=rules)
    recent = tuple(at for at in breaker.failed_at if now - at <= rules.within)
    counted = replace(breaker, failed_at=(*recent, now), failures=len(recent) + 1)
    if counted.failures < rules.failures:
        return counted
    return _opened(counted, now=now, rules=rules)


def after_success(
    breaker: Breaker, *, began_at: datetime, now: datetime, rules: BreakerRules = RULES
) -> Breaker:
    """A run that began then found the provider there, whatever else became of it."""
    now = to_millisecond(now)
    breaker = as_of(breaker, now=now, rules=rules)
    if breaker.has_outdated(began_at):
        return breaker
    match breaker.state:
        case State.CLOSED if breaker.failed_at:
            return Breaker(since=breaker.since)
        case State.HALF_OPEN:
            return replace(
                breaker,
                state=State.RETURNING,
                probe=None,
                since=now,
                until=now + rules.window,
                step=rules.first_step,
            )
    return breaker


def as_of(breaker: Breaker, *, now: datetime, rules: BreakerRules = RULES) -> Breaker:
    """A returning breaker takes a step with each window that passes, and closes after the last."""
    until = breaker.until
    if breaker.state is not State.RETURNING or until is None or now < until:
        return breaker
    passed = (now - until) // rules.window + 1
    step = breaker.step * 2 ** min(passed, _MOST_DOUBLINGS)
    if step > rules.last_step:
        # `since` stays: runs let through while it returned may still have a failure to tell.
        return Breaker(since=breaker.since)
    return replace(breaker, step=step, admitted=0, until=until + rules.window * passed)


def _opened(breaker: Breaker, *, now: datetime, rules: BreakerRules) -> Breaker:
    return Breaker(
        state=State.OPEN,
        failures=breaker.failures,
        opened_at=breaker.opened_at or now,
        since=now,
        until=now + rules.shut_for(breaker.reopened),
        reopened=breaker.reopened,
    )


def _probed(breaker: Breaker, task_id: str, *, now: datetime, rules: BreakerRules) -> Breaker:
    # A probe that outlives its lease is still believed: `since` stays that of the first.
    since = now if breaker.state is State.OPEN else breaker.since
    return replace(
        breaker,
        state=State.HALF_OPEN,
        probe=task_id,
        since=since,
        until=now + rules.probe_lease,
    )


def _next_chance(breaker: Breaker, now: datetime, rules: BreakerRules) -> datetime:
    """A probe mostly answers long before its lease ends."""
    ends_at = breaker.until or now
    return min(ends_at, now + rules.window) if breaker.state is State.HALF_OPEN else ends_at
