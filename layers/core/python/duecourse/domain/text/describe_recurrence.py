"""How a series repeats, in words where there are some, else by its rule."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from duecourse.domain.text.formatting import ordinal

_UNITS = {
    "MINUTELY": "minute",
    "HOURLY": "hour",
    "DAILY": "day",
    "WEEKLY": "week",
    "MONTHLY": "month",
    "YEARLY": "year",
}
_DAYS = {
    "MO": "Monday",
    "TU": "Tuesday",
    "WE": "Wednesday",
    "TH": "Thursday",
    "FR": "Friday",
    "SA": "Saturday",
    "SU": "Sunday",
}
_WEEKDAYS = ["MO", "TU", "WE", "TH", "FR"]
_SPOKEN = {"FREQ", "INTERVAL", "BYDAY", "BYMONTHDAY"}
_LAST_SURE_DAY = 28


def spoken_repeat(repeat: str, anchor: datetime) -> str:
    """`every weekday`, `every 2 hours`, `every month on the 1st`."""
    match repeat.strip().lower():
        case "daily":
            return "every day"
        case "weekdays":
            return "every weekday"
        case "weekly":
            return f"every {anchor:%A}"
        case "monthly":
            return f"every month {_on_day(anchor.day)}"
    return _by_rule(repeat.strip(), anchor)


def _by_rule(rule: str, anchor: datetime) -> str:
    if "=" not in rule:
        return f"by the cron line {rule}"
    pairs = (part.partition("=") for part in rule.upper().removeprefix("RRULE:").split(";"))
    parts = {name.strip(): value.strip() for name, _, value in pairs}
    words = _spoken_rule(parts, anchor) if parts.keys() <= _SPOKEN else None
    return words or f"by the rule {rule}"


def _spoken_rule(parts: Mapping[str, str], anchor: datetime) -> str | None:
    """None for a rule that would take more than a few words."""
    unit = _UNITS.get(parts.get("FREQ", ""))
    if unit is None:
        return None
    every = _every(int(parts.get("INTERVAL", "1")), unit)
    days, dates = parts.get("BYDAY"), parts.get("BYMONTHDAY")
    if days is None and dates is None:
        return f"{every}{_as_anchored(unit, anchor)}"
    if unit == "week" and days is not None:
        return _weekly(every, days.split(","))
    if unit == "month" and days is None and dates is not None:
        return _monthly(every, dates.split(","))
    return _nth_weekday(every, days) if unit == "month" and dates is None and days else None


def _every(interval: int, unit: str) -> str:
    if interval == 1:
        return f"every {unit}"
    return (
        f"every other {unit}" if interval == 2 and unit == "week" else f"every {interval} {unit}s"
    )


def _as_anchored(unit: str, anchor: datetime) -> str:
    match unit:
        case "week":
            return f" on {anchor:%A}"
        case "month":
            return f" on the {ordinal(anchor.day)}"
        case "year":
            return f" on {anchor.day} {anchor:%B}"
    return ""


def _weekly(every: str, days: list[str]) -> str | None:
    if not set(days) <= set(_DAYS):
        return None
    if every == "every week":
        if sorted(days) == sorted(_WEEKDAYS):
            return "every weekday"
        return f"every {_listed([_DAYS[day] for day in days])}"
    if every == "every other week" and len(days) == 1:
        return f"every other {_DAYS[days[0]]}"
    return f"{every} on {_listed([_DAYS[day] for day in days])}"


def _monthly(every: str, dates: list[str]) -> str | None:
    """In a month that has no such day, a rule passes over it."""
    named = ["last day" if date == "-1" else ordinal(int(date)) for date in dates]
    if any(int(date) < -1 for date in dates):
        return None
    return f"{every} on the {_listed(named)}"


def _nth_weekday(every: str, day: str) -> str | None:
    nth, name = day[:-2], _DAYS.get(day[-2:])
    if name is None or "," in day or nth.lstrip("+") not in {"1", "2", "3", "4", "5", "-1"}:
        return None
    return f"{every} on the {'last' if nth == '-1' else ordinal(int(nth))} {name}"


def _on_day(day: int) -> str:
    """The word `monthly` takes the last day of a month that is too short."""
    return f"on the {ordinal(day)}" + (" or its last day" if day > _LAST_SURE_DAY else "")


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
