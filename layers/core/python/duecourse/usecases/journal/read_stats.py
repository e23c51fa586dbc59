"""Read the counters of the last days."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from duecourse.domain.journal.daily_counter import DailyCounter
from duecourse.domain.journal.stats import MAX_LISTED, StatsWindow
from duecourse.domain.time.instant import from_text
from duecourse.domain.time.utc_days import last_days, utc_day
from duecourse.ports.journal import Counters, Stats


def read_stats(days: int, *, counters: Counters, stats: Stats, now: datetime) -> StatsWindow:
    """Return the stats of the last `days` UTC days, including today."""
    listed_days = last_days(utc_day(now), days)
    return StatsWindow(
        days=listed_days,
        counters=read_daily_counters(listed_days, counters=counters, now=now),
        failed_subjects=stats.list_given_up(MAX_LISTED),
        repeated_failures=stats.list_repeated(since=from_text(listed_days[-1])),
    )


def read_daily_counters(
    days: Sequence[str], *, counters: Counters, now: datetime
) -> Sequence[DailyCounter]:
    increments = counters.read_since(min(days), now=now)
    return [
        DailyCounter(
            one.day, one.counter, {**one.sums, **one.maximums}, {**one.earliest, **one.latest}
        )
        for one in increments
        if one.day in days
    ]
