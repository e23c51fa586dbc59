"""IANA time zones, and the wall-clock time of an instant. `dst` converts the other way."""

from __future__ import annotations

import re
from datetime import datetime
from zoneinfo import ZoneInfo

_ZONE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+-]{0,31}(/[A-Za-z][A-Za-z0-9_+-]{0,31}){0,2}")
# Names in the zone directory that are copies, the machine's own setting, or not a zone.
_NON_ZONE_FILES = frozenset({"posix", "right", "localtime", "posixrules", "Factory"})


class UnknownTimezoneError(ValueError):
    def __init__(self, name: str) -> None:
        shortened = name if len(name) <= 60 else f"{name[:60]}…"
        super().__init__(
            f"There is no time zone named {shortened!r}; use an IANA name such as Europe/Berlin."
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


def to_wall_time(instant: datetime, zone: ZoneInfo) -> datetime:
    """Return the wall-clock time of `instant` in `zone`, as a naive datetime."""
    if instant.tzinfo is None:
        raise ValueError("An instant must be aware.")
    return instant.astimezone(zone).replace(tzinfo=None, fold=0)
