"""Ask a provider's breaker before a run, and tell it afterwards whether the provider was there."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from duecourse.domain.limits.circuit_breaker import (
    Admission,
    Breaker,
    State,
    admission,
    after_failure,
    after_success,
    as_of,
    parked,
)
from duecourse.domain.limits.circuit_breakers import StaleBreakersError, event_between
from duecourse.ports.limits import Breakers

T = TypeVar("T")
TRIES = 5


def admit(provider: str, task_id: str, *, breakers: Breakers, now: datetime) -> Admission:
    """A task that lost every race for a start is parked: others were let through meanwhile."""

    def decide(breaker: Breaker) -> tuple[Breaker, Admission]:
        return admission(breaker, task_id, now=now)

    answer = _decided(provider, decide, breakers=breakers, now=now)
    return answer or parked(task_id, after=now)


def report(
    provider: str, *, is_down: bool, began_at: datetime, breakers: Breakers, now: datetime
) -> Breaker | None:
    """The breaker after this result; None where every race was lost and it was not counted.

    That does no harm: a lost failure is followed by others, and a probe's lease runs out.
    """
    after = after_failure if is_down else after_success

    def decide(breaker: Breaker) -> tuple[Breaker, Breaker]:
        told = after(breaker, began_at=began_at, now=now)
        return told, told

    return _decided(provider, decide, breakers=breakers, now=now)


def close_breakers(breakers: Breakers, *, now: datetime) -> int:
    """Close those whose outage is over, also where nobody asks any more; says how many."""
    over = [
        provider
        for provider, breaker in breakers.load().breakers.items()
        if breaker.state is not State.CLOSED and as_of(breaker, now=now).state is State.CLOSED
    ]
    for provider in over:
        _decided(
            provider, lambda breaker: (as_of(breaker, now=now), None), breakers=breakers, now=now
        )
    return len(over)


def _decided(
    provider: str,
    decide: Callable[[Breaker], tuple[Breaker, T]],
    *,
    breakers: Breakers,
    now: datetime,
) -> T | None:
    """Decide on what is there now, and anew after each lost race, a few times."""
    for _ in range(TRIES):
        panel = breakers.load()
        before = panel.of(provider)
        after, answer = decide(before)
        if after == before:
            return answer
        event = event_between(provider, before, after, at=now)
        try:
            breakers.save(panel, panel.having(provider, after), event)
        except StaleBreakersError:
            continue
        return answer
    return None
