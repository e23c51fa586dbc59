"""Collect the signals that the alert rules look at, with a fixed number of reads."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from duecourse.domain.alerts.messages import MAX_DEAD_LETTERS
from duecourse.domain.alerts.rules import Signals
from duecourse.domain.journal.rolling_hour import count_last_hour, days_of_last_hour
from duecourse.domain.time.instant import to_text
from duecourse.ports.dispatch import UnreadableNotes
from duecourse.ports.journal import Stats
from duecourse.ports.limits import Budgets, CircuitBreakerStore
from duecourse.ports.queues import DeadLetters


@dataclass(frozen=True)
class AlertSources:
    """Where signals come from. Dead letters older than `retention` are about to expire: ignored."""

    stats: Stats
    budgets: Budgets
    breakers: CircuitBreakerStore
    dead_letters: DeadLetters
    unreadable: UnreadableNotes
    retention: timedelta


def collect_signals(sources: AlertSources, *, now: datetime) -> Signals:
    counters = sources.stats.read_counters(days_of_last_hour(now))
    letters = sources.dead_letters.list_letters(after=to_text(now - sources.retention))
    return Signals(
        now=now,
        last_hour=count_last_hour(counters, now=now),
        budgets=sources.budgets.list_used_on(now),
        breakers=sources.breakers.load().breakers,
        dead_letters=list(islice(letters, MAX_DEAD_LETTERS)),
        unreadable=sources.unreadable.read(now=now),
    )
