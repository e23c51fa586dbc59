"""What happened in the last days, as far as it is counted."""

from __future__ import annotations

from datetime import datetime

from duecourse.domain.journal.failure_tracker import day_of, days_until
from duecourse.domain.journal.stats import LISTED, Window
from duecourse.domain.time.instant import from_text
from duecourse.ports.journal import Stats


def read_stats(days: int, *, stats: Stats, now: datetime) -> Window:
    """Whole days of UTC, today included."""
    shown = days_until(day_of(now), days)
    return Window(
        days=shown,
        counters=stats.counters(shown),
        given_up=stats.given_up(LISTED),
        repeated=stats.repeated(since=from_text(shown[-1])),
    )
