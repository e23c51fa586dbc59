"""Parse RRULEs strictly, as RFC 5545 defines them."""

from __future__ import annotations

import re
from datetime import datetime

from duecourse.domain.time.recurrence import RecurrenceError
from duecourse.domain.time.rrule import MINUTES_BY_FREQ, RRule, max_weekday_ordinal

MAX_INTERVAL = MAX_COUNT = 10_000
_FREQS = (*MINUTES_BY_FREQ, "WEEKLY", "MONTHLY", "YEARLY")
_WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_RANGES = {
    "BYMONTH": (1, 12),
    "BYMONTHDAY": (-31, 31),
    "BYYEARDAY": (-366, 366),
    "BYWEEKNO": (-53, 53),
    "BYSETPOS": (-366, 366),
    "BYHOUR": (0, 23),
    "BYMINUTE": (0, 59),
}
_FORBIDDEN_PARTS = {  # by RFC 5545
    "BYMONTHDAY": ("WEEKLY",),
    "BYYEARDAY": ("DAILY", "WEEKLY", "MONTHLY"),
    "BYWEEKNO": (*MINUTES_BY_FREQ, "WEEKLY", "MONTHLY"),
}
_PART_NAMES = {"FREQ", "INTERVAL", "COUNT", "UNTIL", "WKST", "BYDAY", *_RANGES}
_INTEGER_PATTERN = re.compile(r"[+-]?[0-9]{1,5}")
_UNTIL_PATTERN = re.compile(r"[0-9]{8}(T[0-9]{6}Z?)?")
_BYDAY_PATTERN = re.compile(rf"([+-]?[0-9]{{1,2}})?({'|'.join(_WEEKDAYS)})")


def parse(text: str) -> RRule:
    parts = _parse_parts(text)
    by = {name: _parse_integers(name, parts[name]) for name in _RANGES if name in parts}
    until = _parse_until(parts["UNTIL"]) if "UNTIL" in parts else None
    return RRule(
        freq=parts["FREQ"],
        interval=_parse_integer("INTERVAL", parts.get("INTERVAL", "1"), 1, MAX_INTERVAL),
        week_start=_parse_weekday("WKST", parts.get("WKST", "MO"), 0)[0],
        count=_parse_integer("COUNT", parts["COUNT"], 1, MAX_COUNT) if "COUNT" in parts else None,
        until_wall_time=until if until and until.tzinfo is None else None,
        ends_at=until if until and until.tzinfo else None,
        weekdays=_parse_weekdays(parts, max_weekday_ordinal(parts["FREQ"], by)),
        by_parts=by,
    )


def _parse_parts(text: str) -> dict[str, str]:
    parts: dict[str, str] = {}
    for part in text.upper().removeprefix("RRULE:").split(";"):
        name, _, value = (piece.strip() for piece in part.partition("="))
        if name not in _PART_NAMES or name in parts:
            raise RecurrenceError(f"The RRULE's part {part!r} is not supported, or there twice.")
        parts[name] = value
    if parts.get("FREQ") not in _FREQS:
        raise RecurrenceError(f"The RRULE has no FREQ that is one of {', '.join(_FREQS)}.")
    _check_parts(parts)
    return parts


def _check_parts(parts: dict[str, str]) -> None:
    if "COUNT" in parts and "UNTIL" in parts:
        raise RecurrenceError("The RRULE has both COUNT and UNTIL; it can end one way only.")
    for name in _FORBIDDEN_PARTS.keys() & parts.keys():
        if parts["FREQ"] in _FORBIDDEN_PARTS[name]:
            raise RecurrenceError(f"The RRULE has {name}, which does not go with {parts['FREQ']}.")


def _parse_integers(name: str, values: str) -> tuple[int, ...]:
    return tuple(
        sorted({_parse_integer(name, value, *_RANGES[name]) for value in values.split(",")})
    )


def _parse_integer(name: str, value: str, low: int, high: int) -> int:
    number = int(value) if _INTEGER_PATTERN.fullmatch(value) else high + 1
    if not low <= number <= high or (low < 0 and number == 0):
        raise RecurrenceError(f"The RRULE's {name} {value!r} is not a number from {low} to {high}.")
    return number


def _parse_weekdays(parts: dict[str, str], most: int) -> tuple[tuple[int, int], ...]:
    values = parts["BYDAY"].split(",") if "BYDAY" in parts else []
    return tuple(sorted({_parse_weekday("BYDAY", value, most) for value in values}))


def _parse_weekday(name: str, value: str, most: int) -> tuple[int, int]:
    match = _BYDAY_PATTERN.fullmatch(value)
    if not match or (match[1] and not 1 <= abs(int(match[1])) <= most):
        raise RecurrenceError(f"The RRULE's {name} {value!r} does not name a weekday it can have.")
    return _WEEKDAYS.index(match[2]), int(match[1] or 0)


def _parse_until(value: str) -> datetime:
    """Return an aware instant if `value` ends in Z, else a naive wall time.

    A date alone includes the whole day.
    """
    try:
        if not _UNTIL_PATTERN.fullmatch(value):
            raise ValueError
        return datetime.fromisoformat(value if "T" in value else f"{value}T235959")
    except ValueError as error:
        raise RecurrenceError(f"The RRULE's UNTIL {value!r} is not a date or time.") from error
