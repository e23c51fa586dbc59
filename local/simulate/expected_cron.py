"""The days and minutes of a cron line, for the oracle of `expected_occurrences`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date


def cron_days(line: str) -> Callable[[date], bool]:
    """Return whether a day is wanted. If both days are restricted, one of them is enough."""
    _, _, day_field, month_field, weekday_field = line.split()
    days, months = _parse(day_field, 1, 31), _parse(month_field, 1, 12)
    weekdays = {number % 7 for number in _parse(weekday_field, 0, 7)}

    def is_wanted(day: date) -> bool:
        is_day, is_weekday = day.day in days, day.isoweekday() % 7 in weekdays
        if "*" in (day_field, weekday_field):
            return day.month in months and is_day and is_weekday
        return day.month in months and (is_day or is_weekday)

    return is_wanted


def cron_minutes(line: str) -> list[int]:
    minutes, hours = line.split()[:2]
    return [
        hour * 60 + minute
        for hour in sorted(_parse(hours, 0, 23))
        for minute in sorted(_parse(minutes, 0, 59))
    ]


def _parse(field: str, low: int, high: int) -> set[int]:
    """Return the numbers of a field with numbers, ranges, lists and steps."""
    found: set[int] = set()
    for part in field.split(","):
        numbers, _, step = part.partition("/")
        first, _, last = numbers.partition("-")
        if numbers == "*":
            begin, end = low, high
        else:
            begin, end = int(first), int(last or first)
        found |= set(range(begin, end + 1, int(step or 1)))
    return found
