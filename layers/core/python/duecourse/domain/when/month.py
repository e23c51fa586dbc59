"""The days of a month, counted from its beginning or its end."""

from __future__ import annotations

from calendar import monthrange
from datetime import date, timedelta

from duecourse.domain.when.words import AskBackError

_DAY = timedelta(days=1)


def next_month(day: date) -> date:
    """Its first day."""
    return (day.replace(day=1) + 31 * _DAY).replace(day=1)


def last_of(day: date) -> date:
    return next_month(day) - _DAY


def place_in_month(month: date, place: int, weekday: int | None) -> date | None:
    """From the month's first day: the nth of its days that are that weekday, -1 for the last."""
    days = [month + _DAY * ahead for ahead in range(monthrange(month.year, month.month)[1])]
    fitting = [day for day in days if weekday is None or day.weekday() == weekday]
    at = place - 1 if place > 0 else len(fitting) + place
    return fitting[at] if 0 <= at < len(fitting) else None


def next_with(day: int, today: date) -> date:
    """The next day, from today on, that has this number in its month."""
    if not 1 <= day <= 31:
        raise AskBackError(f"No month has a day {day}. Which day do you mean?")
    month = today.replace(day=1)
    while (found := place_in_month(month, day, None)) is None or found < today:
        month = next_month(month)
    return found
