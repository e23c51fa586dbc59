"""Collect the signals that the alert rules look at, with a fixed number of reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from duecourse.domain.alerts.messages import MAX_DEAD_LETTERS
from duecourse.domain.alerts.rules import Signals
from duecourse.domain.dispatch.dead_letter import DeadLetter
from duecourse.domain.journal.rolling_hour import (
    HourCounts,
    count_last_hour,
    days_of_last_hour,
)
from duecourse.domain.time.instant import to_text
from duecourse.ports.dispatch import UnreadableNotes
from duecourse.ports.integrations import TokenList
from duecourse.ports.journal import Counters
from duecourse.ports.limits import Budgets, CircuitBreakerStore
from duecourse.ports.queues import DeadLetters
from duecourse.usecases.journal.read_stats import read_daily_counters


@dataclass(frozen=True)
class AlertSources:
    """Where signals come from. Dead letters older than `retention` are about to expire: ignored."""

    counters: Counters
    budgets: Budgets
    breakers: CircuitBreakerStore
    dead_letters: DeadLetters
    unreadable: UnreadableNotes
    tokens: TokenList
    retention: timedelta


@dataclass(frozen=True)
class CollectedSignals:
    """The signals, and the errors of the sources that could not be read, by name of the signal.

    The signal of a failed source has its default value, which raises no alert.
    """

    signals: Signals
    errors: Mapping[str, Exception]


def collect_signals(sources: AlertSources, *, now: datetime) -> CollectedSignals:
    readers: dict[str, Callable[[], Any]] = {
        "last_hour": lambda: _count_last_hour(sources, now),
        "budgets": lambda: sources.budgets.list_used_on(now),
        "breakers": lambda: sources.breakers.list_all(),
        "dead_letters": lambda: _list_dead_letters(sources, now),
        "unreadable": lambda: sources.unreadable.read(now=now),
        "tokens": lambda: sources.tokens.list_all(),
    }
    values, errors = {}, {}
    for name, read in readers.items():
        try:
            values[name] = read()
        except Exception as error:  # noqa: BLE001 - the other sources may still raise an alert
            errors[name] = error
    return CollectedSignals(Signals(now=now, **values), errors)


def _count_last_hour(sources: AlertSources, now: datetime) -> HourCounts:
    counters = read_daily_counters(days_of_last_hour(now), counters=sources.counters, now=now)
    return count_last_hour(counters, now=now)


def _list_dead_letters(sources: AlertSources, now: datetime) -> list[DeadLetter]:
    letters = sources.dead_letters.list_letters(after=to_text(now - sources.retention))
    return list(islice(letters, MAX_DEAD_LETTERS))
