"""Play a retry strategy against the cause of one failure. An attempt takes no time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from duecourse.domain.failures.failure import Failure

from bench.fault_model import HORIZON, Cause


@dataclass(frozen=True, slots=True)
class Incident:
    """A first failure, when it happened, and its cause. Strategies may only see the failure.

    `has_subject`: the task works on a subject, and no other task does.
    """

    id: str
    failure: Failure
    failed_at: datetime
    cause: Cause
    has_subject: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """What a strategy does next if all of its retries so far failed: retry, or ask a person.

    `at` counts from the first failure.
    """

    at: timedelta
    asks_person: bool = False


# A strategy gives up when it has no more steps.
Strategy = Callable[[Incident], Iterator[Step]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """`wasted`: retries that failed. `recovered_after`: None if the task did not succeed."""

    wasted: int = 0
    has_asked: bool = False
    recovered_after: timedelta | None = None


Player = Callable[[Incident], Outcome]


def simulate(strategy: Strategy, incident: Incident) -> Outcome:
    wasted = 0
    for retry, step in enumerate(strategy(incident), 1):
        if step.asks_person:
            return _answer(incident.cause, step.at, retry, wasted)
        if step.at > HORIZON:
            break
        if incident.cause.is_over(step.at, retry):
            return Outcome(wasted, recovered_after=step.at)
        wasted += 1
    return Outcome(wasted)


def _answer(cause: Cause, blocked_after: timedelta, retry: int, wasted: int) -> Outcome:
    """Let the person clear the cause and retry once, or cancel what can never succeed."""
    if not cause.can_end:
        return Outcome(wasted, has_asked=True)
    at = blocked_after + cause.person_after
    if cause.person_clears or cause.is_over(at, retry):
        return Outcome(wasted, has_asked=True, recovered_after=at)
    return Outcome(wasted + 1, has_asked=True)


def find_best_outcome(incident: Incident) -> Outcome:
    """Return what an oracle does: one retry, at the first moment at which it succeeds.

    It knows which retries would fail by chance and leaves them out. It asks a person at once, and
    only where that is needed and faster than waiting.
    """
    cause = incident.cause
    if cause.failing_retries is not None:
        return Outcome(recovered_after=timedelta())
    is_asking = cause.person_clears and (
        cause.ends_after is None or cause.person_after < cause.ends_after
    )
    if is_asking:
        return Outcome(has_asked=True, recovered_after=cause.person_after)
    return Outcome(recovered_after=cause.ends_after)
