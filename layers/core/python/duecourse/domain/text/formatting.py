"""Formats instants and user text for sentences."""

from __future__ import annotations

import re
from datetime import datetime

from duecourse.domain.time.timezones import load_timezone, to_wall_time

# Chats cannot show control characters, and a lone surrogate cannot be encoded at all.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
# Bidirectional controls would also reverse the text that follows the quotation.
_BIDI_CONTROLS = re.compile(r"[\u202a-\u202e\u2066-\u2069]")
_WHITESPACE = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")

_QUOTE_LIMIT = 200  # characters of a description


def remove_unprintable(text: str) -> str:
    return _UNPRINTABLE.sub("", text)


def remove_controls(text: str) -> str:
    """Return `text` without control characters, also those that change the direction of text."""
    return _BIDI_CONTROLS.sub("", remove_unprintable(text))


def to_one_line(text: str, limit: int) -> str:
    """Return `text` on one line without control characters. An ellipsis marks a cut at `limit`."""
    return truncate(remove_controls(_WHITESPACE.sub(" ", text)).strip(), limit)


def quote_description(description: str) -> str:
    return to_one_line(description, _QUOTE_LIMIT)


def truncate(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit].rstrip()} …"


def ordinal(number: int) -> str:
    """Return `1st`, `22nd`, `113th`."""
    is_teen = 10 < number % 100 < 14
    return f"{number}{'th' if is_teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def format_time(instant: datetime, zone: str) -> str:
    """Return text such as `Friday 20 Nov 2026, 08:30 (Europe/Berlin)`."""
    wall = to_wall_time(instant, load_timezone(zone))
    clock = f"{wall:%H:%M:%S}" if wall.second else f"{wall:%H:%M}"
    return f"{wall:%A} {wall.day} {wall:%b %Y}, {clock} ({zone})"
