"""Collecting the signals of the alert rules, also when a source cannot be read."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest
from duecourse.domain.access.scope import Scope
from duecourse.domain.access.tokens import ApiToken
from duecourse.domain.alerts.rules import Signals, UnreadableNote
from duecourse.domain.dispatch.dead_letter import DeadLetter, Queue
from duecourse.domain.journal.counters import CATEGORY_PREFIX, HOUR_PREFIX, hour_digit
from duecourse.domain.journal.increment import Increment
from duecourse.domain.limits.budget import Budget, utc_date
from duecourse.domain.limits.circuit_breaker import CircuitBreaker
from duecourse.domain.time.utc_days import utc_day
from duecourse.usecases.alerts.collect import AlertSources, collect_signals

from tests.support.builders.moments import HOUR, NOW

LETTER = DeadLetter(id="m-1", queue=Queue.WORK, body="{", sent_at=NOW)
BUDGET = Budget(name="llm", day=utc_date(NOW), limit=1)
BREAKERS = {"llm": CircuitBreaker(failures=1)}
TOKEN = ApiToken("ci", Scope.READ, "0" * 64)
NOTE = UnreadableNote(1, ("task 1",))
FAILED = Increment(utc_day(NOW), f"{CATEGORY_PREFIX}x", {HOUR_PREFIX + hour_digit(NOW): 3})


class FixedSource:
    """Gives the same answer to every call of a source."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def __getattr__(self, _name: str) -> Any:
        return lambda *_args, **_options: self._answer


class FailingSource:
    def __getattr__(self, _name: str) -> Any:
        def fail(*_args: Any, **_options: Any) -> None:
            raise TimeoutError

        return fail


SOURCES = AlertSources(
    counters=FixedSource([FAILED]),
    budgets=FixedSource([BUDGET]),
    breakers=FixedSource(BREAKERS),
    dead_letters=FixedSource([LETTER]),
    unreadable=FixedSource(NOTE),
    tokens=FixedSource([TOKEN]),
    retention=HOUR,
)
SIGNAL_OF = {
    "counters": "last_hour",
    "budgets": "budgets",
    "breakers": "breakers",
    "dead_letters": "dead_letters",
    "unreadable": "unreadable",
    "tokens": "tokens",
}


def test_every_source_becomes_a_signal() -> None:
    collected = collect_signals(SOURCES, now=NOW)
    signals = collected.signals
    assert (signals.budgets, signals.breakers) == ([BUDGET], BREAKERS)
    assert (signals.dead_letters, signals.unreadable) == ([LETTER], NOTE)
    assert signals.tokens == [TOKEN]
    assert (signals.last_hour.failed, collected.errors) == (3, {})


@pytest.mark.parametrize("source", SIGNAL_OF)
def test_a_failing_source_yields_its_default_and_the_others_are_read(source: str) -> None:
    whole = collect_signals(SOURCES, now=NOW).signals
    failing: dict[str, Any] = {source: FailingSource()}
    collected = collect_signals(replace(SOURCES, **failing), now=NOW)

    failed = SIGNAL_OF[source]
    assert list(collected.errors) == [failed]
    empty = Signals(now=NOW)
    for field in fields(Signals):
        expected = empty if field.name == failed else whole
        assert getattr(collected.signals, field.name) == getattr(expected, field.name)
