"""When a simulation starts, and for how long it goes on. Both follow from the seed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from local.simulate.chance import Chance

# All schedules tick while the faults last: the sweeper and the alerts at 12:05.
STARTS_AT = datetime(2026, 2, 17, 12, 3, 40, tzinfo=UTC)
# Before the clock changes in the zones of the workload, before the ends of months, and in a leap
# year. The time of the day is the same.
OTHER_DATES = (
    *((2026, 3, 7), (2026, 3, 28), (2026, 4, 4), (2026, 10, 3), (2026, 10, 24), (2026, 10, 31)),
    *((2026, 1, 30), (2026, 2, 26), (2026, 4, 29), (2026, 12, 30), (2028, 2, 27)),
)
MONTH_END = (2026, 1, 30)
_OTHER_DATE_EVERY = 8
# Longer than a lease, a visibility timeout and the sweeper's period together. What waits for longer
# has to say so.
SETTLING = timedelta(minutes=40)
LONG_SETTLING = timedelta(days=3)  # longer than any policy waits
SERIES_SETTLING = timedelta(days=70)  # a monthly series has two more occurrences
LONG_EVERY = 16
SERIES_EVERY = 128


def starts_at(seed: int) -> datetime:
    if seed % _OTHER_DATE_EVERY:
        return STARTS_AT
    number = int(Chance(seed).fraction("start") * len(OTHER_DATES))
    year, month, day = MONTH_END if has_month_ends(seed) else OTHER_DATES[number]
    return STARTS_AT.replace(year=year, month=month, day=day)


def has_month_ends(seed: int) -> bool:
    """Return whether the simulation goes on from January to April: 31, 28 and 31 days."""
    return seed % (2 * SERIES_EVERY) == SERIES_EVERY


def settling_time(seed: int) -> timedelta:
    if seed % SERIES_EVERY == 0:
        return SERIES_SETTLING
    return LONG_SETTLING if seed % LONG_EVERY == 0 else SETTLING


def is_long(seed: int) -> bool:
    """Return whether slow series go on to the end instead of being cancelled."""
    return seed % LONG_EVERY == 0
