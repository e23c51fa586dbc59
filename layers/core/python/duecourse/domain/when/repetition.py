"""Rules of repetition in the form that Repeat.parse reads, each with its first day."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, timedelta

from duecourse.domain.when.clock import PartOfDay
from duecourse.domain.when.length import Length
from duecourse.domain.when.month import last_of, place_in_month
from duecourse.domain.when.words import AskBackError

WORKDAYS, WEEKEND = frozenset(range(5)), frozenset((5, 6))
DAY, WEEK, MONTH, YEAR = Length(days=1), Length(days=7), Length(months=1), Length(months=12)
IN_EVERY_MONTH = 28
_WORDS = {DAY: "daily", WEEK: "weekly", MONTH: "monthly"}
_CODES = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_MOST_STEPS = 10_000
_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Rule:
    """Its first day is the first one that fits, or else one step from now."""

    text: str
    fits: Callable[[date], bool] | None = None
    step: Length | None = None
    part_of_day: PartOfDay | None = None


DAILY = Rule("daily", lambda _day: True)


def weekly(days: frozenset[int], interval: int = 1) -> Rule:
    text = _rrule("WEEKLY", interval, BYDAY=(_CODES[day] for day in sorted(days)))
    if interval == 1 and len(days) == 1:
        text = "weekly"
    if interval == 1 and days == WORKDAYS:
        text = "weekdays"
    return Rule(text, lambda day: day.weekday() in days)


def monthly(days: list[int], interval: int = 1) -> Rule:
    if not all(1 <= day <= 31 for day in days):
        raise AskBackError("No month has such a day. Which day do you mean?")
    if interval == 1 and len(days) == 1:
        return Rule("monthly", lambda day: day.day == days[0])
    if max(days) > IN_EVERY_MONTH:
        raise AskBackError(f"Not every month has a day {max(days)}. Did you mean the last day?")
    text = _rrule("MONTHLY", interval, BYMONTHDAY=sorted(set(days)))
    return Rule(text, lambda day: day.day in days)


def monthly_at(place: int, weekday: int | None, interval: int = 1) -> Rule:
    """The nth of a month's days, or of its days of one name; -1 for the last."""
    if weekday is None and place > 0:
        return monthly([place], interval)
    if weekday is None:
        return Rule(_rrule("MONTHLY", interval, BYMONTHDAY=[-1]), lambda day: day == last_of(day))
    if place > 4:
        raise AskBackError("Not every month has a fifth one. Did you mean the last?")
    return Rule(
        _rrule("MONTHLY", interval, BYDAY=[f"{place}{_CODES[weekday]}"]),
        lambda day: day == place_in_month(day.replace(day=1), place, weekday),
    )


def yearly(day: int, month: int, interval: int = 1) -> Rule:
    if (month, day) == (2, 29):
        raise AskBackError("Not every year has a 29 February. Did you mean 28 February or 1 March?")
    try:
        date(2001, month, day)
    except ValueError:
        raise AskBackError("There is no such day in the year. Which do you mean?") from None
    text = _rrule("YEARLY", interval, BYMONTH=[month], BYMONTHDAY=[day])
    return Rule(text, lambda some: (some.month, some.day) == (month, day))


def spaced(length: Length) -> Rule:
    """Every so often, from now on."""
    if not length.is_calendar:
        return Rule(_by_the_minute(length), step=length)
    if length.months and length.days:
        raise AskBackError("How many days, or how many months?")
    if length in _WORDS:
        return Rule(_WORDS[length], step=length)
    if length.months:
        freq, unit, steps = ("MONTHLY", 1, length.months)
        freq, unit = (freq, unit) if steps % 12 else ("YEARLY", 12)
    else:
        steps = length.days
        freq, unit = ("DAILY", 1) if steps % 7 else ("WEEKLY", 7)
    return Rule(_rrule(freq, steps // unit), step=length)


def _by_the_minute(length: Length) -> str:
    minutes, rest = divmod(length.exact, _MINUTE)
    if rest or not minutes:
        raise AskBackError("I can repeat once a minute at most. How often do you mean?")
    return _rrule("MINUTELY", minutes) if minutes % 60 else _rrule("HOURLY", minutes // 60)


def _rrule(freq: str, interval: int = 1, **parts: Iterable[object]) -> str:
    if not 1 <= interval <= _MOST_STEPS:
        raise AskBackError(f"A step must be from 1 to {_MOST_STEPS}. How often do you mean?")
    steps: dict[str, Iterable[object]] = {"INTERVAL": [interval]} if interval > 1 else {}
    named = {"FREQ": [freq], **steps, **parts}
    return ";".join(f"{name}={','.join(map(str, values))}" for name, values in named.items())
