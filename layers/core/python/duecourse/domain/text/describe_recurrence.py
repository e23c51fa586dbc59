"""Describes a recurrence rule in words. A complex rule is quoted instead."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from duecourse.domain.text.formatting import ordinal

_UNIT_NAMES = {
    "MINUTELY": "minute",
    "HOURLY": "hour",
    "DAILY": "day",
    "WEEKLY": "week",
    "MONTHLY": "month",
    "YEARLY": "year",
}
_DAY_NAMES = {
    "MO": "Monday",
    "TU": "Tuesday",
    "WE": "Wednesday",
    "TH": "Thursday",
    "FR": "Friday",
    "SA": "Saturday",
    "SU": "Sunday",
}
_WEEKDAYS = ["MO", "TU", "WE", "TH", "FR"]
_DESCRIBABLE_PARTS = {"FREQ", "INTERVAL", "BYDAY", "BYMONTHDAY"}
_LAST_DAY_OF_EVERY_MONTH = 28


def describe_recurrence(repeat: str, anchor: datetime) -> str:
    """Return text such as `every weekday`, `every 2 hours` or `every month on the 1st`."""
    match repeat.strip().lower():
        case "daily":
            return "every day"
        case "weekdays":
            return "every weekday"
        case "weekly":
            return f"every {anchor:%A}"
        case "monthly":
            return f"every month {_describe_day_of_month(anchor.day)}"
    return _describe_rule(repeat.strip(), anchor)


def _describe_rule(rule: str, anchor: datetime) -> str:
    if "=" not in rule:
        return f"cron {rule}"
    pairs = (part.partition("=") for part in rule.upper().removeprefix("RRULE:").split(";"))
    parts = {name.strip(): value.strip() for name, _, value in pairs}
    words = _describe_rrule(parts, anchor) if parts.keys() <= _DESCRIBABLE_PARTS else None
    return words or f"RRULE {rule}"


def _describe_rrule(parts: Mapping[str, str], anchor: datetime) -> str | None:
    """Return the rule in words, or None if it is too complex."""
    unit = _UNIT_NAMES.get(parts.get("FREQ", ""))
    if unit is None:
        return None
    every = _describe_interval(int(parts.get("INTERVAL", "1")), unit)
    days, dates = parts.get("BYDAY"), parts.get("BYMONTHDAY")
    if days is None and dates is None:
        return f"{every}{_describe_anchor(unit, anchor)}"
    if unit == "week" and days is not None:
        return _describe_weekly(every, days.split(","))
    if unit == "month" and days is None and dates is not None:
        return _describe_monthly(every, dates.split(","))
    return (
        _describe_nth_weekday(every, days) if unit == "month" and dates is None and days else None
    )


def _describe_interval(interval: int, unit: str) -> str:
    if interval == 1:
        return f"every {unit}"
    return (
        f"every other {unit}" if interval == 2 and unit == "week" else f"every {interval} {unit}s"
    )


def _describe_anchor(unit: str, anchor: datetime) -> str:
    match unit:
        case "week":
            return f" on {anchor:%A}"
        case "month":
            return f" on the {ordinal(anchor.day)}"
        case "year":
            return f" on {anchor.day} {anchor:%B}"
    return ""


def _describe_weekly(every: str, days: list[str]) -> str | None:
    if not set(days) <= set(_DAY_NAMES):
        return None
    if every == "every week":
        if sorted(days) == sorted(_WEEKDAYS):
            return "every weekday"
        return f"every {_join_names([_DAY_NAMES[day] for day in days])}"
    if every == "every other week" and len(days) == 1:
        return f"every other {_DAY_NAMES[days[0]]}"
    return f"{every} on {_join_names([_DAY_NAMES[day] for day in days])}"


def _describe_monthly(every: str, dates: list[str]) -> str | None:
    """Return the rule in words, or None for days counted from the end other than the last.

    An RRULE skips months that lack the day, so this text names no replacement.
    """
    named = ["last day" if date == "-1" else ordinal(int(date)) for date in dates]
    if any(int(date) < -1 for date in dates):
        return None
    return f"{every} on the {_join_names(named)}"


def _describe_nth_weekday(every: str, day: str) -> str | None:
    nth, name = day[:-2], _DAY_NAMES.get(day[-2:])
    if name is None or "," in day or nth.lstrip("+") not in {"1", "2", "3", "4", "5", "-1"}:
        return None
    return f"{every} on the {'last' if nth == '-1' else ordinal(int(nth))} {name}"


def _describe_day_of_month(day: int) -> str:
    """Describe the day of `monthly`, which falls back to the last day of a shorter month."""
    return f"on the {ordinal(day)}" + (
        ", or the last day of shorter months" if day > _LAST_DAY_OF_EVERY_MONTH else ""
    )


def _join_names(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
