"""The circuit breaker of a channel: one refusal opens it, one success closes it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from duecourse.domain.limits.breaker_results import record_failure, record_success
from duecourse.domain.limits.channel_breaker import (
    CHANNEL_RULES,
    channel_breaker_name,
    channel_of_breaker,
)
from duecourse.domain.limits.circuit_breaker import (
    Admitted,
    CircuitBreaker,
    CircuitState,
    Rejected,
    decide_admission,
)

from tests.support.builders.moments import NOW
from tests.support.builders.tasks import a_task

MINUTE = timedelta(minutes=1)


def test_one_refusal_opens_it_and_one_success_closes_it() -> None:
    opened = record_failure(CircuitBreaker(), started_at=NOW, now=NOW, rules=CHANNEL_RULES)
    assert opened.state is CircuitState.OPEN
    _, rejected = decide_admission(opened, "a", now=NOW, rules=CHANNEL_RULES)
    assert isinstance(rejected, Rejected)

    later = NOW + MINUTE
    probing, admitted = decide_admission(opened, "a", now=later, rules=CHANNEL_RULES)
    assert (admitted, probing.probe_task_id) == (Admitted(), "a")
    closed = record_success(probing, started_at=later, now=later, rules=CHANNEL_RULES)
    assert closed.state is CircuitState.CLOSED


def test_probes_are_five_minutes_apart_at_most() -> None:
    breaker, now, waits = CircuitBreaker(), NOW, []
    for _ in range(6):
        breaker = record_failure(breaker, started_at=now, now=now, rules=CHANNEL_RULES)
        assert breaker.state_until is not None
        waits.append((breaker.state_until - now) // MINUTE)
        now = breaker.state_until
        breaker, _ = decide_admission(breaker, "a", now=now, rules=CHANNEL_RULES)
    assert waits == [1, 2, 4, 5, 5, 5]


def test_the_name_says_whose_breaker_it_is() -> None:
    assert channel_of_breaker(channel_breaker_name("slack")) == "slack"
    assert channel_of_breaker("openai") is None


@pytest.mark.parametrize(("name", "provider"), [("channel:slack", None), ("openai", "openai")])
def test_a_task_cannot_name_a_channel_as_its_provider(name: str, provider: str | None) -> None:
    assert a_task(type="custom", payload={"provider": name}).provider == provider
