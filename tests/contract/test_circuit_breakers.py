"""Circuit breakers: one concurrent writer wins, no failure is lost, and events are journaled."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import boto3
import pytest
from duecourse.adapters.aws.dynamodb.circuit_breakers import DynamoCircuitBreakerStore
from duecourse.adapters.aws.dynamodb.journal import DynamoJournal
from duecourse.domain.limits.circuit_breaker import Admitted, CircuitBreaker, CircuitState, Rejected
from duecourse.domain.limits.circuit_breakers import (
    CircuitBreakers,
    StaleCircuitBreakersError,
    journal_key,
    transition_event,
)
from duecourse.domain.tasks.event import Event
from duecourse.ports.limits import CircuitBreakerStore
from duecourse.usecases.limits import circuit_breaker
from duecourse.usecases.limits.circuit_breaker import admit, record_result
from pynamodb.exceptions import PutError, TransactWriteError

from local.runtime.call_interceptor import CallInterceptor, attribute_calls_to
from local.testing.faults import Fault, Faults
from tests.contract.conftest import RETENTION
from tests.support.builders.moments import HOUR, MINUTE, NOW
from tests.support.fakes.limits import MemoryBreakers

FAILED_ONCE = CircuitBreaker(failures=1, failed_at=(NOW,))
OPEN = CircuitBreaker(
    state=CircuitState.OPEN,
    failures=10,
    opened_at=NOW,
    state_changed_at=NOW,
    state_until=NOW + MINUTE,
)


@pytest.fixture
def dynamo() -> DynamoCircuitBreakerStore:
    return DynamoCircuitBreakerStore(retention=RETENTION)


@pytest.fixture(params=["dynamodb", "memory"])
def breakers(
    request: pytest.FixtureRequest, dynamo: DynamoCircuitBreakerStore
) -> CircuitBreakerStore:
    return dynamo if request.param == "dynamodb" else MemoryBreakers()


class RacingStore:
    """After each load, the next of the concurrent writes runs, as long as there are some."""

    def __init__(
        self, breakers: CircuitBreakerStore, *concurrent_writes: Callable[[], object]
    ) -> None:
        self._breakers = breakers
        self._concurrent_writes = list(concurrent_writes)
        self.save = breakers.save

    def load(self) -> CircuitBreakers:
        circuit_breakers = self._breakers.load()
        if self._concurrent_writes:
            self._concurrent_writes.pop(0)()
        return circuit_breakers


def opened_event(version: int = 0) -> Event:
    event = transition_event("llm", CircuitBreaker(), OPEN, at=NOW + version * MINUTE)
    assert event is not None
    return event


def fail(breakers: CircuitBreakerStore, times: int = 1, provider: str = "llm") -> None:
    for _ in range(times):
        record_result(provider, is_down=True, started_at=NOW, breakers=breakers, now=NOW)


def stored_item() -> dict[str, Any]:
    key = {"key": {"S": "breakers"}}
    response: dict[str, Any] = boto3.client("dynamodb").get_item(TableName="StateTable", Key=key)
    return dict(response["Item"])


# Load and save


def test_before_the_first_failure_there_are_no_breakers(breakers: CircuitBreakerStore) -> None:
    assert breakers.load() == CircuitBreakers()


@pytest.mark.parametrize(
    "breaker",
    [
        CircuitBreaker(),
        CircuitBreaker(state_changed_at=NOW),
        FAILED_ONCE,
        OPEN,
        CircuitBreaker(
            state=CircuitState.HALF_OPEN,
            opened_at=NOW,
            state_changed_at=NOW,
            state_until=NOW,
            probe_task_id="task-1",
            reopen_count=3,
        ),
        CircuitBreaker(
            state=CircuitState.RETURNING,
            opened_at=NOW,
            state_changed_at=NOW,
            state_until=NOW,
            window_limit=8,
            window_admitted=7,
        ),
    ],
)
def test_a_breaker_in_any_state_is_loaded_as_it_was(
    breakers: CircuitBreakerStore, breaker: CircuitBreaker
) -> None:
    circuit_breakers = CircuitBreakers().with_breaker("llm", breaker)
    breakers.save(CircuitBreakers(), circuit_breakers, None)
    assert breakers.load() == circuit_breakers


def test_all_breakers_are_one_item(dynamo: DynamoCircuitBreakerStore) -> None:
    with_one = CircuitBreakers().with_breaker("one", OPEN)
    dynamo.save(CircuitBreakers(), with_one, None)
    dynamo.save(with_one, with_one.with_breaker("two", FAILED_ONCE), None)
    assert dynamo.load().breakers == {"one": OPEN, "two": FAILED_ONCE}
    assert stored_item()["version"] == {"N": "2"}


@pytest.mark.parametrize("event", [None, opened_event()], ids=["put", "transaction"])
@pytest.mark.parametrize("is_first", [True, False])
def test_two_saves_from_one_version_have_one_winner(
    breakers: CircuitBreakerStore, event: Event | None, is_first: bool
) -> None:
    before = CircuitBreakers()
    if not is_first:
        before = CircuitBreakers().with_breaker("other", FAILED_ONCE)
        breakers.save(CircuitBreakers(), before, None)
    winner = before.with_breaker("llm", OPEN)
    breakers.save(before, winner, event)
    with pytest.raises(StaleCircuitBreakersError):
        breakers.save(before, winner, event)
    assert breakers.load() == winner


def test_an_event_is_journaled_with_the_breaker_or_not_at_all(
    dynamo: DynamoCircuitBreakerStore, journal: DynamoJournal
) -> None:
    circuit_breakers = CircuitBreakers().with_breaker("llm", OPEN)
    dynamo.save(CircuitBreakers(), circuit_breakers, opened_event())
    with pytest.raises(StaleCircuitBreakersError):
        dynamo.save(CircuitBreakers(), circuit_breakers, opened_event(1))
    assert list(journal.list_events("breaker#llm")) == [opened_event()]


def test_events_are_journaled_in_the_order_of_their_versions(
    dynamo: DynamoCircuitBreakerStore, journal: DynamoJournal
) -> None:
    circuit_breakers = CircuitBreakers()
    for n in range(11):
        before, circuit_breakers = circuit_breakers, circuit_breakers.with_breaker("llm", OPEN)
        dynamo.save(before, circuit_breakers, opened_event(n))
    assert list(journal.list_events("breaker#llm")) == [opened_event(n) for n in range(11)]


# Lost responses


@pytest.mark.parametrize(
    ("call", "event"),
    [("dynamodb.PutItem", None), ("dynamodb.TransactWriteItems", opened_event())],
)
def test_a_write_whose_response_was_lost_is_recognized(
    dynamo: DynamoCircuitBreakerStore,
    faults: Faults,
    calls: CallInterceptor,
    call: str,
    event: Event | None,
) -> None:
    faults.add(Fault(call, function="me", when="after", kind="timeout"))
    circuit_breakers = CircuitBreakers().with_breaker("llm", OPEN)
    with attribute_calls_to("me"):
        dynamo.save(CircuitBreakers(), circuit_breakers, event)
    assert (dynamo.load(), calls.counts["me", call]) == (circuit_breakers, 2)


@pytest.mark.usefixtures("calls")
@pytest.mark.parametrize(
    ("call", "event", "error"),
    [
        ("dynamodb.PutItem", None, PutError),
        ("dynamodb.TransactWriteItems", opened_event(), TransactWriteError),
    ],
)
@pytest.mark.parametrize("kind", ["timeout", "error"])
def test_a_write_that_never_succeeds_raises(
    dynamo: DynamoCircuitBreakerStore,
    faults: Faults,
    call: str,
    event: Event | None,
    error: type[Exception],
    kind: str,
) -> None:
    faults.add(Fault(call, function="me", kind=kind, times=10))
    with attribute_calls_to("me"), pytest.raises(error):
        dynamo.save(CircuitBreakers(), CircuitBreakers().with_breaker("llm", OPEN), event)


@pytest.mark.usefixtures("calls")
def test_a_put_that_conflicts_with_a_transaction_is_stale(
    dynamo: DynamoCircuitBreakerStore, faults: Faults
) -> None:
    conflict = {"code": "TransactionConflictException", "status": 400}
    faults.add(Fault("dynamodb.PutItem", function="me", kind="error", error=conflict))
    with attribute_calls_to("me"), pytest.raises(StaleCircuitBreakersError):
        dynamo.save(CircuitBreakers(), CircuitBreakers().with_breaker("llm", FAILED_ONCE), None)


# Admitting calls and recording results


def test_a_provider_that_works_costs_a_read_and_no_write(
    dynamo: DynamoCircuitBreakerStore, calls: CallInterceptor
) -> None:
    with attribute_calls_to("me"):
        assert admit("llm", "task", breakers=dynamo, now=NOW) == Admitted()
        record_result("llm", is_down=False, started_at=NOW, breakers=dynamo, now=NOW)
    assert calls.counts == {("me", "dynamodb.GetItem"): 2}


def test_the_tenth_failure_opens_the_breaker_and_publishes_one_event(
    dynamo: DynamoCircuitBreakerStore, journal: DynamoJournal
) -> None:
    fail(dynamo, 9)
    assert journal.list_events(journal_key("llm")) == []
    fail(dynamo, 3)
    assert dynamo.load().get("llm") == OPEN
    assert [event.type for event in journal.list_events(journal_key("llm"))] == ["breaker:opened"]


def test_each_provider_has_its_own_breaker(breakers: CircuitBreakerStore) -> None:
    fail(breakers, 10, provider="down")
    assert isinstance(admit("down", "task", breakers=breakers, now=NOW), Rejected)
    assert admit("up", "task", breakers=breakers, now=NOW) == Admitted()


def test_the_first_call_after_recovery_closes_the_breaker_and_publishes_it(
    dynamo: DynamoCircuitBreakerStore, journal: DynamoJournal
) -> None:
    fail(dynamo, 10)
    at = NOW + MINUTE
    assert admit("llm", "probe", breakers=dynamo, now=at) == Admitted()
    record_result("llm", is_down=False, started_at=at, breakers=dynamo, now=at)
    assert admit("llm", "task", breakers=dynamo, now=NOW + HOUR) == Admitted()
    assert dynamo.load().get("llm").state is CircuitState.CLOSED
    events = journal.list_events(journal_key("llm"))
    assert [(e.type, e.at) for e in events] == [
        ("breaker:opened", NOW),
        ("breaker:closed", NOW + HOUR),
    ]


def test_two_concurrent_failures_are_both_counted(breakers: CircuitBreakerStore) -> None:
    """Both writes are equal: only the writer id distinguishes them."""
    fail(RacingStore(breakers, lambda: fail(breakers)))
    assert breakers.load().get("llm").failures == 2


def test_one_of_two_concurrent_calls_is_the_probe(breakers: CircuitBreakerStore) -> None:
    fail(breakers, 10)
    at = NOW + MINUTE
    first_decisions: list[object] = []
    racing_store = RacingStore(
        breakers, lambda: first_decisions.append(admit("llm", "one", breakers=breakers, now=at))
    )
    second = admit("llm", "two", breakers=racing_store, now=at)
    assert first_decisions == [Admitted()]
    assert isinstance(second, Rejected)


def test_a_call_that_loses_every_race_is_deferred_for_up_to_a_minute(
    breakers: CircuitBreakerStore,
) -> None:
    fail(breakers, 10)
    at = NOW + MINUTE
    concurrent_writes = [
        partial(fail, breakers, provider=f"p{n}") for n in range(circuit_breaker.MAX_ATTEMPTS)
    ]
    decision = admit("llm", "task", breakers=RacingStore(breakers, *concurrent_writes), now=at)
    assert isinstance(decision, Rejected)
    assert at <= decision.retry_at < at + MINUTE


def test_a_result_that_loses_every_race_is_dropped(breakers: CircuitBreakerStore) -> None:
    concurrent_writes = [
        partial(fail, breakers, provider=f"p{n}") for n in range(circuit_breaker.MAX_ATTEMPTS)
    ]
    racing_store = RacingStore(breakers, *concurrent_writes)
    assert (
        record_result("llm", is_down=True, started_at=NOW, breakers=racing_store, now=NOW) is None
    )
    assert breakers.load().get("llm") == CircuitBreaker()
