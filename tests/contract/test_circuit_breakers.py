"""Circuit breakers: one concurrent writer wins, an isolated failure writes nothing, and events are
journaled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import boto3
import pytest
from duecourse.adapters.aws.dynamodb.circuit_breakers import CACHE_TTL, DynamoCircuitBreakerStore
from duecourse.adapters.aws.dynamodb.journal import DynamoJournal
from duecourse.domain.limits.circuit_breaker import Admitted, CircuitBreaker, CircuitState, Rejected
from duecourse.domain.limits.circuit_breakers import (
    MAX_BREAKERS,
    StaleCircuitBreakerError,
    StoredBreaker,
    journal_key,
    transition_event,
)
from duecourse.domain.tasks.event import Event
from duecourse.ports.limits import CircuitBreakerStore
from duecourse.usecases.limits import circuit_breaker
from duecourse.usecases.limits.circuit_breaker import BreakerDeps, admit, close_recovered_breakers
from pynamodb.exceptions import PutError, TransactWriteError

from local.runtime.call_interceptor import CallInterceptor, attribute_calls_to
from local.testing.faults import Fault, Faults
from tests.contract.conftest import RETENTION
from tests.support.breakers import fail, succeed
from tests.support.builders.moments import HOUR, MINUTE, NOW
from tests.support.fakes.clock import ManualClock
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
def clock() -> ManualClock:
    return ManualClock(NOW)


@pytest.fixture
def dynamo(clock: ManualClock) -> DynamoCircuitBreakerStore:
    return DynamoCircuitBreakerStore(clock, retention=RETENTION)


@pytest.fixture(params=["dynamodb", "memory"])
def breakers(
    request: pytest.FixtureRequest, dynamo: DynamoCircuitBreakerStore
) -> CircuitBreakerStore:
    return dynamo if request.param == "dynamodb" else MemoryBreakers()


class RacingStore:
    """After each consistent read, the next of the concurrent writes runs, if there is one."""

    def __init__(
        self, breakers: CircuitBreakerStore, *concurrent_writes: Callable[[], object]
    ) -> None:
        self._breakers = breakers
        self._concurrent_writes = list(concurrent_writes)
        self.save = breakers.save
        self.list_all = breakers.list_all
        self.make_room = breakers.make_room
        self.get_cached = breakers.get_cached
        self.get_last_read = breakers.get_last_read

    def get(self, provider: str) -> StoredBreaker:
        stored = self._breakers.get(provider)
        if self._concurrent_writes:
            self._concurrent_writes.pop(0)()
        return stored


def opened_event(version: int = 0) -> Event:
    event = transition_event("llm", CircuitBreaker(), OPEN, at=NOW + version * MINUTE)
    assert event is not None
    return event


def stored_item(key: str = "breaker#llm") -> dict[str, Any]:
    response: dict[str, Any] = boto3.client("dynamodb").get_item(
        TableName="StateTable", Key={"key": {"S": key}}
    )
    return dict(response["Item"])


def write_count(calls: CallInterceptor) -> int:
    names = ("PutItem", "UpdateItem", "TransactWriteItems")
    return sum(calls.counts["me", f"dynamodb.{name}"] for name in names)


# Load and save


def test_before_the_first_failure_there_are_no_breakers(breakers: CircuitBreakerStore) -> None:
    assert breakers.get("llm") == breakers.get_last_read("llm") == StoredBreaker()
    assert breakers.list_all() == {}


@pytest.mark.parametrize(
    "breaker",
    [
        CircuitBreaker(),
        CircuitBreaker(state_changed_at=NOW, reached_at=NOW),
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
        replace(OPEN, is_key_refused=True, refused_run_id="run-1"),
    ],
)
def test_a_breaker_in_any_state_is_loaded_as_it_was(
    breakers: CircuitBreakerStore, breaker: CircuitBreaker
) -> None:
    breakers.save("llm", StoredBreaker(), breaker, None)
    assert breakers.get("llm").breaker == breaker
    assert breakers.list_all() == {"llm": breaker}


def test_each_provider_has_an_item_of_its_own(dynamo: DynamoCircuitBreakerStore) -> None:
    dynamo.save("one", StoredBreaker(), OPEN, None)
    before = stored_item("breaker#one")
    dynamo.save("two", StoredBreaker(), FAILED_ONCE, None)
    assert dynamo.list_all() == {"one": OPEN, "two": FAILED_ONCE}
    assert stored_item("breaker#one") == before


def test_an_item_expires_when_the_history_does(dynamo: DynamoCircuitBreakerStore) -> None:
    dynamo.save("llm", StoredBreaker(), OPEN, None)
    assert int(stored_item()["expires_at"]["N"]) == int((NOW + RETENTION).timestamp())


def test_the_versions_of_an_item_that_was_deleted_are_not_used_again(
    dynamo: DynamoCircuitBreakerStore, clock: ManualClock, journal: DynamoJournal
) -> None:
    """Otherwise an event would replace an older one, and its consumers would drop it."""
    dynamo.save("llm", StoredBreaker(), OPEN, opened_event())
    dynamo.save("llm", dynamo.get("llm"), OPEN, opened_event(1))
    key = {"key": {"S": "breaker#llm"}}
    boto3.client("dynamodb").delete_item(TableName="StateTable", Key=key)
    clock.at = NOW + 2 * MINUTE
    dynamo.save("llm", StoredBreaker(), OPEN, opened_event(2))
    assert [one.event for one in journal.list_events("breaker#llm")] == [
        opened_event(n) for n in range(3)
    ]


def test_the_sweeper_drops_the_least_needed_breakers_from_a_full_list(
    dynamo: DynamoCircuitBreakerStore,
) -> None:
    for n in range(MAX_BREAKERS):
        dynamo.save(
            f"p{n}", StoredBreaker(), replace(FAILED_ONCE, failed_at=(NOW + n * MINUTE,)), None
        )
    fail(BreakerDeps(dynamo), 10)
    assert "llm" not in dynamo.list_all()

    close_recovered_breakers(BreakerDeps(dynamo), now=NOW)
    dynamo.save("llm", dynamo.get("llm"), OPEN, opened_event())

    names = dynamo.list_all().keys()
    assert len(names) == MAX_BREAKERS - MAX_BREAKERS // 4 + 1
    assert ("llm" in names, "p0" in names, f"p{MAX_BREAKERS - 1}" in names) == (True, False, True)
    assert dynamo.get("p0").breaker.failures == 1


@pytest.mark.parametrize("event", [None, opened_event()], ids=["put", "transaction"])
@pytest.mark.parametrize("is_first", [True, False])
def test_two_saves_from_one_version_have_one_winner(
    breakers: CircuitBreakerStore, event: Event | None, is_first: bool
) -> None:
    if not is_first:
        breakers.save("llm", StoredBreaker(), FAILED_ONCE, None)
    before = breakers.get("llm")
    breakers.save("llm", before, OPEN, event)
    with pytest.raises(StaleCircuitBreakerError):
        breakers.save("llm", before, OPEN, event)
    assert breakers.get("llm").breaker == OPEN


def test_an_event_is_journaled_with_the_breaker_or_not_at_all(
    dynamo: DynamoCircuitBreakerStore, journal: DynamoJournal
) -> None:
    dynamo.save("llm", StoredBreaker(), OPEN, opened_event())
    with pytest.raises(StaleCircuitBreakerError):
        dynamo.save("llm", StoredBreaker(), OPEN, opened_event(1))
    assert [one.event for one in journal.list_events("breaker#llm")] == [opened_event()]


def test_events_are_journaled_in_the_order_of_their_versions(
    dynamo: DynamoCircuitBreakerStore, journal: DynamoJournal
) -> None:
    for n in range(11):
        dynamo.save("llm", dynamo.get("llm"), OPEN, opened_event(n))
    assert [one.event for one in journal.list_events("breaker#llm")] == [
        opened_event(n) for n in range(11)
    ]


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
    with attribute_calls_to("me"):
        dynamo.save("llm", StoredBreaker(), OPEN, event)
    assert (dynamo.get("llm").breaker, calls.counts["me", call]) == (OPEN, 2)


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
        dynamo.save("llm", StoredBreaker(), OPEN, event)


@pytest.mark.usefixtures("calls")
def test_a_put_that_conflicts_with_a_transaction_is_stale(
    dynamo: DynamoCircuitBreakerStore, faults: Faults
) -> None:
    conflict = {"code": "TransactionConflictException", "status": 400}
    faults.add(Fault("dynamodb.PutItem", function="me", kind="error", error=conflict))
    with attribute_calls_to("me"), pytest.raises(StaleCircuitBreakerError):
        dynamo.save("llm", StoredBreaker(), FAILED_ONCE, None)


# Admitting calls and recording results


def test_a_provider_that_works_costs_one_read_every_few_seconds_and_no_write(
    dynamo: DynamoCircuitBreakerStore, calls: CallInterceptor, clock: ManualClock
) -> None:
    deps = BreakerDeps(dynamo)
    admit("llm", "first", breakers=deps, now=NOW)  # reads the older item, once a minute
    calls.counts.clear()
    with attribute_calls_to("me"):
        for _ in range(10):
            clock.at += CACHE_TTL / 5
            assert admit("llm", "task", breakers=deps, now=clock.at) == Admitted()
            succeed(deps, now=clock.at)
    assert calls.counts == {("me", "dynamodb.GetItem"): 2}


def test_an_isolated_failure_writes_nothing(
    dynamo: DynamoCircuitBreakerStore, calls: CallInterceptor
) -> None:
    deps = BreakerDeps(dynamo)
    with attribute_calls_to("me"):
        fail(deps)
        succeed(deps)
        fail(deps)
    assert write_count(calls) == 0
    assert dynamo.list_all() == {}


def test_ten_failures_of_one_container_are_written_twice(
    dynamo: DynamoCircuitBreakerStore, calls: CallInterceptor
) -> None:
    with attribute_calls_to("me"):
        fail(BreakerDeps(dynamo), 10)
    assert calls.counts["me", "dynamodb.PutItem"] == 1
    assert calls.counts["me", "dynamodb.TransactWriteItems"] == 1


def test_a_rejected_task_costs_no_write_and_hardly_a_read(
    dynamo: DynamoCircuitBreakerStore, calls: CallInterceptor
) -> None:
    deps = BreakerDeps(dynamo)
    fail(deps, 10)
    calls.counts.clear()
    with attribute_calls_to("me"):
        for n in range(100):
            assert isinstance(admit("llm", f"task-{n}", breakers=deps, now=NOW), Rejected)
            fail(deps)  # a run that started before the breaker opened
    assert sum(calls.counts.values()) == 0


def test_the_tenth_failure_opens_the_breaker_and_publishes_one_event(
    dynamo: DynamoCircuitBreakerStore, journal: DynamoJournal
) -> None:
    deps = BreakerDeps(dynamo)
    fail(deps, 9)
    assert journal.list_events(journal_key("llm")) == []
    fail(deps, 3)
    assert dynamo.get("llm").breaker == OPEN
    assert [one.event.type for one in journal.list_events(journal_key("llm"))] == ["breaker:opened"]


def test_each_provider_has_its_own_breaker(breakers: CircuitBreakerStore) -> None:
    deps = BreakerDeps(breakers)
    fail(deps, 10, provider="down")
    assert isinstance(admit("down", "task", breakers=deps, now=NOW), Rejected)
    assert admit("up", "task", breakers=deps, now=NOW) == Admitted()


def test_another_container_rejects_a_few_seconds_later(
    dynamo: DynamoCircuitBreakerStore, clock: ManualClock
) -> None:
    other = BreakerDeps(DynamoCircuitBreakerStore(clock, retention=RETENTION))
    assert admit("llm", "task", breakers=other, now=NOW) == Admitted()
    fail(BreakerDeps(dynamo), 10)
    assert admit("llm", "task", breakers=other, now=NOW) == Admitted()
    clock.at += CACHE_TTL
    assert isinstance(admit("llm", "task", breakers=other, now=clock.at), Rejected)


def test_a_success_in_another_container_resets_the_failures(
    dynamo: DynamoCircuitBreakerStore, clock: ManualClock
) -> None:
    worker = BreakerDeps(DynamoCircuitBreakerStore(clock, retention=RETENTION))
    deps = BreakerDeps(dynamo)
    fail(deps, 2)
    admit("llm", "task", breakers=worker, now=NOW)
    succeed(worker, now=NOW + MINUTE)
    assert dynamo.get("llm").breaker == CircuitBreaker(reached_at=NOW + MINUTE)


def test_failures_before_a_success_elsewhere_do_not_count_when_they_are_written_after_it(
    dynamo: DynamoCircuitBreakerStore, clock: ManualClock
) -> None:
    worker, first, second = (
        BreakerDeps(DynamoCircuitBreakerStore(clock, retention=RETENTION)) for _ in range(3)
    )
    fail(first, 1)
    fail(second, 2)
    admit("llm", "task", breakers=worker, now=NOW)
    succeed(worker, now=NOW + MINUTE)
    clock.at = NOW + 2 * MINUTE
    fail(first, 1, now=clock.at)
    assert dynamo.get("llm").breaker.failures == 1


def test_the_first_call_after_recovery_closes_the_breaker_and_publishes_it(
    dynamo: DynamoCircuitBreakerStore, journal: DynamoJournal, clock: ManualClock
) -> None:
    deps = BreakerDeps(dynamo)
    fail(deps, 10)
    clock.at = at = NOW + MINUTE
    assert admit("llm", "probe", breakers=deps, now=at) == Admitted()
    succeed(deps, now=at)
    clock.at = NOW + HOUR
    assert admit("llm", "task", breakers=deps, now=NOW + HOUR) == Admitted()
    assert dynamo.get("llm").breaker.state is CircuitState.CLOSED
    events = [one.event for one in journal.list_events(journal_key("llm"))]
    assert [(e.type, e.at) for e in events] == [
        ("breaker:opened", NOW),
        ("breaker:closed", NOW + HOUR),
    ]


def test_a_failed_probe_reopens_the_breaker_although_the_copy_is_older(
    dynamo: DynamoCircuitBreakerStore, clock: ManualClock
) -> None:
    worker = BreakerDeps(DynamoCircuitBreakerStore(clock, retention=RETENTION))
    deps = BreakerDeps(dynamo)
    fail(deps, 10)
    clock.at = NOW + MINUTE
    dynamo.get("llm")  # still open
    assert admit("llm", "probe", breakers=worker, now=clock.at) == Admitted()
    fail(deps, now=clock.at)
    breaker = dynamo.get("llm").breaker
    assert (breaker.state, breaker.reopen_count) == (CircuitState.OPEN, 1)


def test_concurrent_failures_of_two_containers_are_all_counted(
    breakers: CircuitBreakerStore,
) -> None:
    """Both writes are equal: only the writer id distinguishes them."""
    other = BreakerDeps(breakers)
    fail(BreakerDeps(RacingStore(breakers, lambda: fail(other, 2))), 2)
    assert breakers.get("llm").breaker.failures == 4


def test_one_of_two_concurrent_calls_is_the_probe(
    breakers: CircuitBreakerStore, clock: ManualClock
) -> None:
    deps = BreakerDeps(breakers)
    fail(deps, 10)
    clock.at = at = NOW + MINUTE
    first_decisions: list[object] = []
    racing_store = RacingStore(
        breakers, lambda: first_decisions.append(admit("llm", "one", breakers=deps, now=at))
    )
    second = admit("llm", "two", breakers=BreakerDeps(racing_store), now=at)
    assert first_decisions == [Admitted()]
    assert isinstance(second, Rejected)


def replace_breaker(breakers: CircuitBreakerStore) -> None:
    """Write the breaker as another process would, without changing its state."""
    before = breakers.get("llm")
    changed = replace(before.breaker, failures=before.breaker.failures + 1)
    breakers.save("llm", before, changed, None)


def test_a_call_that_loses_every_race_is_deferred_for_up_to_a_minute(
    breakers: CircuitBreakerStore, clock: ManualClock
) -> None:
    fail(BreakerDeps(breakers), 10)
    clock.at = at = NOW + MINUTE
    concurrent_writes = [partial(replace_breaker, breakers)] * circuit_breaker.MAX_ATTEMPTS
    racing_store = RacingStore(breakers, *concurrent_writes)
    decision = admit("llm", "task", breakers=BreakerDeps(racing_store), now=at)
    assert isinstance(decision, Rejected)
    assert at <= decision.retry_at < at + MINUTE


def test_failures_that_lose_every_race_are_written_with_the_next(
    breakers: CircuitBreakerStore,
) -> None:
    breakers.save("llm", StoredBreaker(), CircuitBreaker(), None)
    concurrent_writes = [partial(replace_breaker, breakers)] * circuit_breaker.MAX_ATTEMPTS
    deps = BreakerDeps(RacingStore(breakers, *concurrent_writes))
    fail(deps, 2)
    assert breakers.get("llm").breaker.failed_at == ()
    fail(deps, 1)
    assert len(breakers.get("llm").breaker.failed_at) == 3


@pytest.mark.usefixtures("calls")
def test_failures_that_cannot_be_written_are_written_with_the_next(
    dynamo: DynamoCircuitBreakerStore, faults: Faults
) -> None:
    deps = BreakerDeps(dynamo)
    faults.add(Fault("dynamodb.PutItem", function="me", kind="error", times=10))
    with attribute_calls_to("me"), pytest.raises(PutError):
        fail(deps, 2)
    fail(deps, 1)
    assert len(dynamo.get("llm").breaker.failed_at) == 3
