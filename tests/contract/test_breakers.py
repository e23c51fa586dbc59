"""What the breakers' store promises: one winner, no count lost, and a journal that agrees."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import boto3
import pytest
from duecourse.adapters.aws.dynamodb.circuit_breakers import DynamoBreakers
from duecourse.adapters.aws.dynamodb.journal import DynamoJournal
from duecourse.domain.limits.circuit_breaker import Admitted, Breaker, Parked, State
from duecourse.domain.limits.circuit_breakers import (
    Panel,
    StaleBreakersError,
    event_between,
    journal_key,
)
from duecourse.domain.tasks.event import Event
from duecourse.usecases.limits import circuit_breaker
from duecourse.usecases.limits.circuit_breaker import admit, report
from pynamodb.exceptions import PutError, TransactWriteError

from local.runtime.call_interceptor import Calls, calls_of
from local.testing.faults import Fault, Faults
from tests.contract.conftest import RETENTION
from tests.support.builders.moments import HOUR, MINUTE, NOW

FAILED_ONCE = Breaker(failures=1, failed_at=(NOW,))
OPEN = Breaker(state=State.OPEN, failures=10, opened_at=NOW, since=NOW, until=NOW + MINUTE)


@pytest.fixture
def breakers() -> DynamoBreakers:
    return DynamoBreakers(retention=RETENTION)


class Raced(DynamoBreakers):
    """Each time after it has read, others come in between, as long as there are some."""

    def __init__(self, *others: Callable[[], object]) -> None:
        super().__init__(retention=RETENTION)
        self._others = list(others)

    def load(self) -> Panel:
        panel = super().load()
        if self._others:
            self._others.pop(0)()
        return panel


def opened_event(version: int = 0) -> Event:
    event = event_between("llm", Breaker(), OPEN, at=NOW + version * MINUTE)
    assert event is not None
    return event


def fail(breakers: DynamoBreakers, times: int = 1, provider: str = "llm") -> None:
    for _ in range(times):
        report(provider, is_down=True, began_at=NOW, breakers=breakers, now=NOW)


def stored_item() -> dict[str, Any]:
    key = {"key": {"S": "breakers"}}
    found: dict[str, Any] = boto3.client("dynamodb").get_item(TableName="StateTable", Key=key)
    return dict(found["Item"])


# Load and save


def test_before_the_first_failure_there_are_no_breakers(breakers: DynamoBreakers) -> None:
    assert breakers.load() == Panel()


@pytest.mark.parametrize(
    "breaker",
    [
        Breaker(),
        Breaker(since=NOW),
        FAILED_ONCE,
        OPEN,
        Breaker(
            state=State.HALF_OPEN, opened_at=NOW, since=NOW, until=NOW, probe="task-1", reopened=3
        ),
        Breaker(state=State.RETURNING, opened_at=NOW, since=NOW, until=NOW, step=8, admitted=7),
    ],
)
def test_a_breaker_in_any_state_is_loaded_as_it_was(
    breakers: DynamoBreakers, breaker: Breaker
) -> None:
    panel = Panel().having("llm", breaker)
    breakers.save(Panel(), panel, None)
    assert breakers.load() == panel


def test_all_breakers_are_one_item(breakers: DynamoBreakers) -> None:
    one = Panel().having("one", OPEN)
    breakers.save(Panel(), one, None)
    breakers.save(one, one.having("two", FAILED_ONCE), None)
    assert breakers.load().breakers == {"one": OPEN, "two": FAILED_ONCE}
    assert stored_item()["version"] == {"N": "2"}


@pytest.mark.parametrize("event", [None, opened_event()], ids=["put", "transaction"])
@pytest.mark.parametrize("is_first", [True, False])
def test_two_saves_from_one_version_have_one_winner(
    breakers: DynamoBreakers, event: Event | None, is_first: bool
) -> None:
    before = Panel()
    if not is_first:
        before = Panel().having("other", FAILED_ONCE)
        breakers.save(Panel(), before, None)
    winner = before.having("llm", OPEN)
    breakers.save(before, winner, event)
    with pytest.raises(StaleBreakersError):
        breakers.save(before, winner, event)
    assert breakers.load() == winner


def test_an_event_is_journaled_with_the_breaker_or_not_at_all(
    breakers: DynamoBreakers, journal: DynamoJournal
) -> None:
    panel = Panel().having("llm", OPEN)
    breakers.save(Panel(), panel, opened_event())
    with pytest.raises(StaleBreakersError):
        breakers.save(Panel(), panel, opened_event(1))
    assert list(journal.history("breaker#llm")) == [opened_event()]


def test_events_are_kept_in_the_order_of_their_versions(
    breakers: DynamoBreakers, journal: DynamoJournal
) -> None:
    panel = Panel()
    for n in range(11):
        before, panel = panel, panel.having("llm", OPEN)
        breakers.save(before, panel, opened_event(n))
    assert list(journal.history("breaker#llm")) == [opened_event(n) for n in range(11)]


# Answers that were lost


@pytest.mark.parametrize(
    ("call", "event"),
    [("dynamodb.PutItem", None), ("dynamodb.TransactWriteItems", opened_event())],
)
def test_a_write_whose_answer_was_lost_is_known_as_ones_own(
    breakers: DynamoBreakers, faults: Faults, calls: Calls, call: str, event: Event | None
) -> None:
    faults.add(Fault(call, function="me", when="after", kind="timeout"))
    panel = Panel().having("llm", OPEN)
    with calls_of("me"):
        breakers.save(Panel(), panel, event)
    assert (breakers.load(), calls.counts["me", call]) == (panel, 2)


@pytest.mark.usefixtures("calls")
@pytest.mark.parametrize(
    ("call", "event", "error"),
    [
        ("dynamodb.PutItem", None, PutError),
        ("dynamodb.TransactWriteItems", opened_event(), TransactWriteError),
    ],
)
@pytest.mark.parametrize("kind", ["timeout", "error"])
def test_a_write_that_never_came_through_raises(
    breakers: DynamoBreakers,
    faults: Faults,
    call: str,
    event: Event | None,
    error: type[Exception],
    kind: str,
) -> None:
    faults.add(Fault(call, function="me", kind=kind, times=10))
    with calls_of("me"), pytest.raises(error):
        breakers.save(Panel(), Panel().having("llm", OPEN), event)


@pytest.mark.usefixtures("calls")
def test_a_put_that_met_a_transaction_has_lost(breakers: DynamoBreakers, faults: Faults) -> None:
    conflict = {"code": "TransactionConflictException", "status": 400}
    faults.add(Fault("dynamodb.PutItem", function="me", kind="error", error=conflict))
    with calls_of("me"), pytest.raises(StaleBreakersError):
        breakers.save(Panel(), Panel().having("llm", FAILED_ONCE), None)


# Asking and telling


def test_a_provider_that_works_costs_a_read_and_no_write(
    breakers: DynamoBreakers, calls: Calls
) -> None:
    with calls_of("me"):
        assert admit("llm", "task", breakers=breakers, now=NOW) == Admitted()
        report("llm", is_down=False, began_at=NOW, breakers=breakers, now=NOW)
    assert calls.counts == {("me", "dynamodb.GetItem"): 2}


def test_the_tenth_failure_opens_it_and_says_so_once(
    breakers: DynamoBreakers, journal: DynamoJournal
) -> None:
    fail(breakers, 9)
    assert journal.history(journal_key("llm")) == []
    fail(breakers, 3)
    assert breakers.load().of("llm") == OPEN
    assert [event.type for event in journal.history(journal_key("llm"))] == ["breaker:opened"]


def test_each_provider_has_its_own_breaker(breakers: DynamoBreakers) -> None:
    fail(breakers, 10, provider="down")
    assert isinstance(admit("down", "task", breakers=breakers, now=NOW), Parked)
    assert admit("up", "task", breakers=breakers, now=NOW) == Admitted()


def test_whoever_asks_after_the_return_closes_it_and_says_so(
    breakers: DynamoBreakers, journal: DynamoJournal
) -> None:
    fail(breakers, 10)
    at = NOW + MINUTE
    assert admit("llm", "probe", breakers=breakers, now=at) == Admitted()
    report("llm", is_down=False, began_at=at, breakers=breakers, now=at)
    assert admit("llm", "task", breakers=breakers, now=NOW + HOUR) == Admitted()
    assert breakers.load().of("llm").state is State.CLOSED
    events = journal.history(journal_key("llm"))
    assert [(e.type, e.at) for e in events] == [
        ("breaker:opened", NOW),
        ("breaker:closed", NOW + HOUR),
    ]


def test_two_failures_at_the_same_moment_are_both_counted(breakers: DynamoBreakers) -> None:
    """Both decide the very same: only who wrote it tells them apart."""
    fail(Raced(lambda: fail(breakers)))
    assert breakers.load().of("llm").failures == 2


def test_of_two_who_ask_at_the_same_moment_one_is_the_probe(breakers: DynamoBreakers) -> None:
    fail(breakers, 10)
    at = NOW + MINUTE
    first: list[object] = []
    raced = Raced(lambda: first.append(admit("llm", "one", breakers=breakers, now=at)))
    second = admit("llm", "two", breakers=raced, now=at)
    assert first == [Admitted()]
    assert isinstance(second, Parked)


def test_who_loses_every_race_is_parked_for_up_to_a_minute(breakers: DynamoBreakers) -> None:
    fail(breakers, 10)
    at = NOW + MINUTE
    others = [partial(fail, breakers, provider=f"p{n}") for n in range(circuit_breaker.TRIES)]
    answer = admit("llm", "task", breakers=Raced(*others), now=at)
    assert isinstance(answer, Parked)
    assert at <= answer.until < at + MINUTE


def test_a_report_that_loses_every_race_is_let_go(breakers: DynamoBreakers) -> None:
    others = [partial(fail, breakers, provider=f"p{n}") for n in range(circuit_breaker.TRIES)]
    raced = Raced(*others)
    assert report("llm", is_down=True, began_at=NOW, breakers=raced, now=NOW) is None
    assert breakers.load().of("llm") == Breaker()
