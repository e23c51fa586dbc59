"""Read how things stand: a few reads, however much happened."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from duecourse.domain.alerts.messages import MOST_DEAD_LETTERS
from duecourse.domain.alerts.rules import Signals
from duecourse.domain.journal.rolling_hour import days_with_last_hour, last_hour
from duecourse.domain.time.instant import to_text
from duecourse.ports.dispatch import UnreadableNotes
from duecourse.ports.journal import Stats
from duecourse.ports.limits import Breakers, Budgets
from duecourse.ports.queues import DeadLetters


@dataclass(frozen=True)
class Instruments:
    """Dead letters older than the `retention` are about to go, and no longer told of."""

    stats: Stats
    budgets: Budgets
    breakers: Breakers
    letters: DeadLetters
    unreadable: UnreadableNotes
    retention: timedelta


def read_signals(instruments: Instruments, *, now: datetime) -> Signals:
    counters = instruments.stats.counters(days_with_last_hour(now))
    letters = instruments.letters.kept(after=to_text(now - instruments.retention))
    return Signals(
        now=now,
        last_hour=last_hour(counters, now=now),
        budgets=instruments.budgets.used_on(now),
        breakers=instruments.breakers.load().breakers,
        dead_letters=list(islice(letters, MOST_DEAD_LETTERS)),
        unreadable=instruments.unreadable.read(now=now),
    )
