"""The rule for wall-clock times that a clock change (DST) skips or doubles.

A skipped time means the end of the gap; a doubled time means its first occurrence.
"""

from __future__ import annotations

from bisect import bisect_left
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from duecourse.domain.time.timezones import to_wall_time

_RESOLUTION = timedelta(microseconds=1)


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
