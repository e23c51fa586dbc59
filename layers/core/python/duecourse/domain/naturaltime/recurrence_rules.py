"""Build recurrence rules that RecurrenceRule.parse reads, each with its first day."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, timedelta

from duecourse.domain.naturaltime.clock_time import PartOfDay
from duecourse.domain.naturaltime.dates import last_day_of_month, nth_day_in_month
from duecourse.domain.naturaltime.duration import CalendarDuration
from duecourse.domain.naturaltime.tokens import ClarificationNeededError

WORKDAYS, WEEKEND = frozenset(range(5)), frozenset((5, 6))
DAY, WEEK, MONTH, YEAR = (
    CalendarDuration(days=1),
    CalendarDuration(days=7),
    CalendarDuration(months=1),
    CalendarDuration(months=12),
)
LAST_DAY_OF_EVERY_MONTH = 28
_NAMED_RULES = {DAY: "daily", WEEK: "weekly", MONTH: "monthly"}
_WEEKDAY_CODES = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_MAX_INTERVAL = 10_000
_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class ParsedRule:
    """A recurrence that starts on the first day `is_match` accepts, or one `interval` from now."""

    text: str
    is_match: Callable[[date], bool] | None = None
    interval: CalendarDuration | None = None
    part_of_day: PartOfDay | None = None


DAILY = ParsedRule("daily", lambda _day: True)


def weekly_rule(days: frozenset[int], interval: int = 1) -> ParsedRule:
    text = _format_rrule("WEEKLY", interval, BYDAY=(_WEEKDAY_CODES[day] for day in sorted(days)))
    if interval == 1 and len(days) == 1:
        text = "weekly"
    if interval == 1 and days == WORKDAYS:
        text = "weekdays"
    return ParsedRule(text, lambda day: day.weekday() in days)


def monthly_rule(days: list[int], interval: int = 1) -> ParsedRule:
    if not all(1 <= day <= 31 for day in days):
        raise ClarificationNeededError("No month has such a day. Write a day from 1 to 31.")
    if interval == 1 and len(days) == 1:
        return ParsedRule("monthly", lambda day: day.day == days[0])
    if max(days) > LAST_DAY_OF_EVERY_MONTH:
        raise ClarificationNeededError(
            f"Not every month has a day {max(days)}. "
            "For the last day, write: every month on the last day"
        )
    text = _format_rrule("MONTHLY", interval, BYMONTHDAY=sorted(set(days)))
    return ParsedRule(text, lambda day: day.day in days)


def nth_day_rule(position: int, weekday: int | None, interval: int = 1) -> ParsedRule:
    """Return the rule for the nth day of each month, or its nth `weekday`; -1 is the last."""
    if weekday is None and position > 0:
        return monthly_rule([position], interval)
    if weekday is None:
        return ParsedRule(
            _format_rrule("MONTHLY", interval, BYMONTHDAY=[-1]),
            lambda day: day == last_day_of_month(day),
        )
    if position > 4:
        raise ClarificationNeededError(
            "Not every month has a fifth one. "
            "For the last one, write for example: every last friday of the month"
        )
    return ParsedRule(
        _format_rrule("MONTHLY", interval, BYDAY=[f"{position}{_WEEKDAY_CODES[weekday]}"]),
        lambda day: day == nth_day_in_month(day.replace(day=1), position, weekday),
    )


def yearly_rule(day: int, month: int, interval: int = 1) -> ParsedRule:
    if (month, day) == (2, 29):
        raise ClarificationNeededError(
            "Not every year has a 29 February. Write 28 february or 1 march."
        )
    try:
        date(2001, month, day)
    except ValueError:
        raise ClarificationNeededError(
            "There is no such date. Write another one. Example: every year on 24 december"
        ) from None
    text = _format_rrule("YEARLY", interval, BYMONTH=[month], BYMONTHDAY=[day])
    return ParsedRule(text, lambda some: (some.month, some.day) == (month, day))


def interval_rule(duration: CalendarDuration) -> ParsedRule:
    """Return the rule that repeats at a fixed interval from now on."""
    if not duration.is_calendar:
        return ParsedRule(_format_minute_interval(duration), interval=duration)
    if duration.months and duration.days:
        raise ClarificationNeededError("Write months or days, not both. Example: every 45 days")
    if duration in _NAMED_RULES:
        return ParsedRule(_NAMED_RULES[duration], interval=duration)
    if duration.months:
        freq, unit, steps = ("MONTHLY", 1, duration.months)
        freq, unit = (freq, unit) if steps % 12 else ("YEARLY", 12)
    else:
        steps = duration.days
        freq, unit = ("DAILY", 1) if steps % 7 else ("WEEKLY", 7)
    return ParsedRule(_format_rrule(freq, steps // unit), interval=duration)


def _format_minute_interval(duration: CalendarDuration) -> str:
    minutes, rest = divmod(duration.exact, _MINUTE)
    if rest or not minutes:
        raise ClarificationNeededError(
            "A series runs at most once a minute. Write a longer interval. Example: every 5 minutes"
        )
    return (
        _format_rrule("MINUTELY", minutes)
        if minutes % 60
        else _format_rrule("HOURLY", minutes // 60)
    )


def _format_rrule(freq: str, interval: int = 1, **parts: Iterable[object]) -> str:
    if not 1 <= interval <= _MAX_INTERVAL:
        raise ClarificationNeededError(
            f"The interval must be from 1 to {_MAX_INTERVAL:,}. Example: every 2 weeks"
        )
    steps: dict[str, Iterable[object]] = {"INTERVAL": [interval]} if interval > 1 else {}
    named = {"FREQ": [freq], **steps, **parts}
    return ";".join(f"{name}={','.join(map(str, values))}" for name, values in named.items())
