"""How instants and people's own words are put into a sentence."""

from __future__ import annotations

import re
from datetime import datetime

from duecourse.domain.time.timezones import to_wall, zone_named

# No chat could show these, and half a character (a surrogate) cannot even be sent.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
# These turn round what follows them, too, and so the words of others.
_TURNING = re.compile(r"[\u202a-\u202e\u2066-\u2069]")
_GAPS = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")

_QUOTED = 200  # characters of a description


def printable(text: str) -> str:
    return _UNPRINTABLE.sub("", text)


def one_line(text: str, limit: int) -> str:
    """As it may be quoted within a sentence; what is cut is seen to be."""
    return beginning(_TURNING.sub("", printable(_GAPS.sub(" ", text))).strip(), limit)


def quoted(description: str) -> str:
    """What a task is about, as it is named in a sentence."""
    return one_line(description, _QUOTED)


def beginning(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit].rstrip()} …"


def ordinal(number: int) -> str:
    """`1st`, `22nd`, `113th`"""
    is_teen = 10 < number % 100 < 14
    return f"{number}{'th' if is_teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def spoken_time(instant: datetime, zone: str) -> str:
    """`Friday 20 Nov 2026, 08:30 (Europe/Berlin)`"""
    wall = to_wall(instant, zone_named(zone))
    clock = f"{wall:%H:%M:%S}" if wall.second else f"{wall:%H:%M}"
    return f"{wall:%A} {wall.day} {wall:%b %Y}, {clock} ({zone})"
