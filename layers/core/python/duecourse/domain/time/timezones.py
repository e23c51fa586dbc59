"""Converts between wall-clock times and instants, including DST gaps and overlaps."""

from __future__ import annotations

import re
from bisect import bisect_left
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

# After this year, adding a period or an offset could exceed the range of datetime.
LAST_YEAR = 9900

_RESOLUTION = timedelta(microseconds=1)
_ZONE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+-]{0,31}(/[A-Za-z][A-Za-z0-9_+-]{0,31}){0,2}")
# Names in the zone directory that are copies, the machine's own setting, or not a zone.
_NON_ZONE_FILES = frozenset({"posix", "right", "localtime", "posixrules", "Factory"})


class UnknownTimezoneError(ValueError):
    def __init__(self, name: str) -> None:
        shown = name if len(name) <= 60 else f"{name[:60]}…"
        super().__init__(
            f"There is no time zone named {shown!r}; use an IANA name such as Europe/Berlin."
        )
        self.name = name


def load_timezone(name: str) -> ZoneInfo:
    """Return the IANA zone `name`. Raises UnknownTimezoneError for any other text."""
    if not _ZONE_NAME.fullmatch(name) or name.split("/")[0] in _NON_ZONE_FILES:
        raise UnknownTimezoneError(name)
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:  # missing, not a zone file, or a directory
        raise UnknownTimezoneError(name) from error


def to_instant(wall_time: datetime, zone: ZoneInfo) -> datetime:
    """Return the UTC instant of a naive wall-clock time.

    A time in a DST gap gives the end of the gap, an ambiguous time its first occurrence. So a
    later wall time never gives an earlier instant.
    """
    if wall_time.tzinfo is not None:
        raise ValueError("A wall-clock time must be naive.")
    before, after = _utc_offset(wall_time, zone, fold=0), _utc_offset(wall_time, zone, fold=1)
    if before < after:
        return _gap_end(wall_time, zone, before=before, after=after)
    return (wall_time - before).replace(tzinfo=UTC, fold=0)


def to_wall_time(instant: datetime, zone: ZoneInfo) -> datetime:
    """Return the wall-clock time of `instant` in `zone`, as a naive datetime."""
    if instant.tzinfo is None:
        raise ValueError("An instant must be aware.")
    return instant.astimezone(zone).replace(tzinfo=None, fold=0)


def earliest_wall_time(instant: datetime, zone: ZoneInfo) -> datetime:
    """Return a wall time that is not after any wall time whose instant is `instant` or later.

    If a DST gap ends at `instant`, the wall times in the gap map to it too.
    """
    return min(to_wall_time(instant, zone), to_wall_time(instant - _RESOLUTION, zone) + _RESOLUTION)


def _utc_offset(wall_time: datetime, zone: ZoneInfo, *, fold: int) -> timedelta:
    return wall_time.replace(tzinfo=zone, fold=fold).utcoffset() or timedelta(0)


def _gap_end(
    wall_time: datetime, zone: ZoneInfo, *, before: timedelta, after: timedelta
) -> datetime:
    # zoneinfo does not expose transitions. They fall on whole seconds, so search for the first
    # second at which the wall clock is past the skipped time.
    low = (wall_time - after).replace(tzinfo=UTC, microsecond=0)
    seconds = range(int((after - before).total_seconds()) + 1)
    found = bisect_left(
        seconds,
        True,
        key=lambda second: to_wall_time(low + timedelta(seconds=second), zone) > wall_time,
    )
    return low + timedelta(seconds=found)
