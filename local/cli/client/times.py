"""Format the API's instants in the terminal's time zone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
_MIN_UNITS = 2  # 47 h says more than 1 d
_NEAR_RANGE = timedelta(days=180)
_JUST_NOW = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class TimeFormatter:
    """`now` is the server's time: the clock of a local stack may be in another year."""

    now: datetime

    @property
    def zone(self) -> str:
        """Return the name of the local zone, or UTC if local time cannot represent `now`."""
        try:
            return self.now.astimezone().tzname() or "local"
        except (ValueError, OverflowError):
            return "UTC"

    def format_short(self, text: Any) -> str:
        """Return 17 Feb 15:00, or 17 Feb 2027 if it is far away."""
        instant = _parse_instant(text)
        if instant is None:
            return _to_raw_text(text)
        wall = instant.astimezone()
        is_near = abs(instant - self.now) < _NEAR_RANGE
        return f"{wall.day:2} {wall:%b %H:%M}" if is_near else f"{wall.day:2} {wall:%b  %Y}"

    def format_full(self, text: Any) -> str:
        instant = _parse_instant(text)
        if instant is None:
            return _to_raw_text(text)
        wall = instant.astimezone()
        return f"{wall:%a} {wall.day} {wall:%b %Y %H:%M:%S %Z} ({self.format_relative(text)})"

    def format_past(self, text: Any) -> str:
        """Return the full time of something that has happened.

        The server's clock is known to the second only, so it may seem to lie in the future.
        """
        instant = _parse_instant(text)
        if instant is None or instant < self.now - _JUST_NOW:
            return self.format_full(text)
        wall = instant.astimezone()
        return f"{wall:%a} {wall.day} {wall:%b %Y %H:%M:%S %Z} (just now)"

    def format_seconds(self, text: Any) -> str:
        """Return the time with seconds, for logs."""
        instant = _parse_instant(text)
        if instant is None:
            return _to_raw_text(text)
        wall = instant.astimezone()
        is_near = abs(instant - self.now) < _NEAR_RANGE
        return f"{wall.day:2} {wall:%b %H:%M:%S}" if is_near else f"{wall.day} {wall:%b %Y %H:%M}"

    def format_in_zone(self, text: Any, zone: Any) -> str | None:
        """Return the time in `zone`, or None if that has the same offset as the local zone."""
        instant = _parse_instant(text)
        try:
            there = None if instant is None else instant.astimezone(ZoneInfo(zone))
        except (TypeError, ValueError, OSError, OverflowError, ZoneInfoNotFoundError):
            return None
        if (
            instant is None
            or there is None
            or there.utcoffset() == instant.astimezone().utcoffset()
        ):
            return None
        return f"{there:%a} {there.day} {there:%b %Y %H:%M:%S}"

    def format_relative(self, text: Any) -> str:
        """Return in 5 min, 3 h ago, or now."""
        instant = _parse_instant(text)
        if instant is None:
            return ""
        seconds = round((instant - self.now).total_seconds())
        if seconds == 0:
            return "now"
        span = format_span(abs(seconds))
        return f"in {span}" if seconds > 0 else f"{span} ago"


def format_span(seconds: float) -> str:
    """Return the span in the largest unit of which it has at least two."""
    for name, size in _UNITS[:-1]:
        if seconds >= _MIN_UNITS * size:
            return f"{int(seconds // size)} {name}"
    return f"{seconds:.0f} s"


def format_milliseconds(milliseconds: Any) -> str:
    """Return 153 ms, 1.5 s, or the two largest units: 4 min 57 s."""
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float):
        return _to_raw_text(milliseconds)
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    if milliseconds < 60_000:
        return f"{milliseconds / 1000:.1f} s"
    left = round(milliseconds / 1000)
    for (name, size), (next_name, next_size) in pairwise(_UNITS):
        if left >= size:
            rest = left % size // next_size
            return f"{left // size} {name}" + (f" {rest} {next_name}" if rest else "")
    return f"{left} s"


def format_duration(start: Any, end: Any) -> str | None:
    began, ended = _parse_instant(start), _parse_instant(end)
    if began is None or ended is None:
        return None
    seconds = max(0.0, (ended - began).total_seconds())
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else format_span(seconds)


def _parse_instant(text: Any) -> datetime | None:
    try:
        parsed = datetime.fromisoformat(text)
        parsed = parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed
        parsed.astimezone()  # raises for the first and last years in some zones
    except (TypeError, ValueError, OverflowError):
        return None
    return parsed


def _to_raw_text(text: Any) -> str:
    return "" if text is None else str(text)
