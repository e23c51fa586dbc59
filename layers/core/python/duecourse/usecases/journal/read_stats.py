"""Read the counters of the last days."""

from __future__ import annotations

from datetime import datetime

from duecourse.domain.journal.failure_tracker import last_days, utc_day
from duecourse.domain.journal.stats import MAX_LISTED, StatsWindow
from duecourse.domain.time.instant import from_text
from duecourse.ports.journal import Stats


def read_stats(days: int, *, stats: Stats, now: datetime) -> StatsWindow:
    """Return the stats of the last `days` UTC days, including today."""
    listed_days = last_days(utc_day(now), days)
    return StatsWindow(
        days=listed_days,
        counters=stats.read_counters(listed_days),
        failed_subjects=stats.list_given_up(MAX_LISTED),
        repeated_failures=stats.list_repeated(since=from_text(listed_days[-1])),
    )
