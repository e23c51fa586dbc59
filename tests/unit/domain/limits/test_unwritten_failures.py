"""When the failures that a container has collected are written to the breaker."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from duecourse.domain.limits.breaker_results import ProviderFailure
from duecourse.domain.limits.circuit_breaker import CircuitBreaker, CircuitState
from duecourse.domain.limits.unwritten_failures import WRITE_INTERVAL, UnwrittenFailures

from tests.support.builders.moments import MILLISECOND, MINUTE, NOW

SECOND = timedelta(seconds=1)
CLOSED = CircuitBreaker()
OPEN = CircuitBreaker(
    state=CircuitState.OPEN, state_changed_at=NOW - MINUTE, state_until=NOW + MINUTE
)
HALF_OPEN = CircuitBreaker(state=CircuitState.HALF_OPEN, state_changed_at=NOW, state_until=NOW)


def failed(count: int, *, at: datetime = NOW) -> UnwrittenFailures:
    return UnwrittenFailures().add(*[ProviderFailure(at, at)] * count)


def breaker_with(failures: int) -> CircuitBreaker:
    return CircuitBreaker(failed_at=(NOW,) * failures, failures=failures)


@pytest.mark.parametrize(
    ("unwritten", "breaker", "is_due"),
    [
        (failed(1), CLOSED, False),
        (failed(2), CLOSED, True),
        (failed(1), breaker_with(8), False),
        (failed(1), breaker_with(9), True),
        (replace(failed(7), written_at=NOW), breaker_with(2), False),
        (replace(failed(8), written_at=NOW), breaker_with(2), True),
        (replace(failed(2), written_at=NOW - WRITE_INTERVAL + MILLISECOND), CLOSED, False),
        (replace(failed(2), written_at=NOW - WRITE_INTERVAL), CLOSED, True),
        (failed(10), OPEN, False),
        (failed(1, at=NOW + MINUTE), OPEN, True),
        (failed(1), HALF_OPEN, True),
        (failed(1, at=NOW - MILLISECOND), HALF_OPEN, False),
    ],
    ids=[
        "an isolated failure",
        "two failures",
        "one that does not open it",
        "one that opens it",
        "some, soon after a write",
        "enough to open it, soon after a write",
        "some, just before a second",
        "some, after a second",
        "runs of before it opened",
        "a probe that started later",
        "a probe",
        "a run of before the probe",
    ],
)
def test_failures_are_written_when_they_matter(
    unwritten: UnwrittenFailures, breaker: CircuitBreaker, is_due: bool
) -> None:
    assert unwritten.is_write_due(breaker, now=NOW) is is_due


def test_a_call_that_reached_the_provider_ends_the_row() -> None:
    unwritten = failed(4).with_reached(NOW + SECOND).add(ProviderFailure(NOW, NOW + MINUTE))
    assert len(unwritten.failures) == 1
    assert unwritten.apply(breaker_with(5), now=NOW + MINUTE).failures == 1


def test_an_earlier_call_that_reached_the_provider_changes_nothing() -> None:
    unwritten = failed(1).with_reached(NOW)
    assert unwritten.with_reached(NOW - SECOND) == unwritten.with_reached(None) == unwritten


def test_a_container_keeps_as_many_failures_as_open_a_breaker() -> None:
    assert len(failed(300).failures) == 10


def test_failures_reported_late_count_by_the_time_they_happened() -> None:
    """A backlog of reports must not keep the breaker closed, nor count what is long over."""
    unwritten = failed(10, at=NOW - 10 * MINUTE)
    assert unwritten.apply(CLOSED, now=NOW).state is CircuitState.OPEN
    assert unwritten.apply(replace(CLOSED, reached_at=NOW), now=NOW) == replace(
        CLOSED, reached_at=NOW
    )
