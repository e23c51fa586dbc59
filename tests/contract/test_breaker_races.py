"""300 failures of one provider in one second, reported by ten containers at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from duecourse.adapters.aws.dynamodb.circuit_breakers import DynamoCircuitBreakerStore
from duecourse.adapters.aws.dynamodb.journal import DynamoJournal
from duecourse.domain.limits.circuit_breaker import CircuitState
from duecourse.domain.limits.circuit_breakers import journal_key
from duecourse.usecases.limits.circuit_breaker import BreakerDeps

from local.runtime.call_interceptor import CallInterceptor, attribute_calls_to
from tests.contract.conftest import RETENTION
from tests.support.breakers import fail
from tests.support.builders.moments import NOW
from tests.support.fakes.clock import ManualClock

pytestmark = pytest.mark.usefixtures("serialize_calls")
CONTAINERS = 10
FAILURES_PER_CONTAINER = 30
MAX_WRITES = 5  # of two failures or more each
MAX_CONFLICTS = 5 * CONTAINERS


def run_container(_: int) -> None:
    """Record failures as one container of the failure function does, within one second."""
    clock = ManualClock(NOW)
    deps = BreakerDeps(DynamoCircuitBreakerStore(clock, retention=RETENTION))
    with attribute_calls_to("failure"):
        for n in range(FAILURES_PER_CONTAINER):
            clock.at = NOW + timedelta(seconds=n / FAILURES_PER_CONTAINER)
            fail(deps, now=clock.at)


def test_300_failures_in_one_second_open_the_breaker_once_with_few_writes(
    calls: CallInterceptor, journal: DynamoJournal
) -> None:
    with ThreadPoolExecutor(CONTAINERS) as threads:
        list(threads.map(run_container, range(CONTAINERS)))

    store = DynamoCircuitBreakerStore(ManualClock(NOW), retention=RETENTION)
    assert store.get("llm").breaker.state is CircuitState.OPEN
    assert [one.event.type for one in journal.list_events(journal_key("llm"))] == ["breaker:opened"]
    tries = sum(
        calls.counts["failure", f"dynamodb.{name}"] for name in ("PutItem", "TransactWriteItems")
    )
    assert tries <= MAX_WRITES + MAX_CONFLICTS
    # The copy, the older item and the open breaker, and two reads for each try to write.
    assert calls.counts["failure", "dynamodb.GetItem"] <= 3 * CONTAINERS + 2 * tries
