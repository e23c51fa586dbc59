"""Instants: aware, in UTC, to the millisecond.

Their text has a fixed width, so that it sorts like the time.
"""

from __future__ import annotations

from datetime import UTC, datetime


def to_text(instant: datetime) -> str:
    if instant.tzinfo is None:
        raise ValueError(f"{instant} has no time zone")
    utc = instant.astimezone(UTC).replace(tzinfo=None)
    return f"{utc.isoformat(timespec='milliseconds')}Z"


def from_text(text: str) -> datetime:
    """Read what `to_text` wrote. A time without a zone, as in old items, is UTC."""
    parsed = datetime.fromisoformat(text)
    return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)


def to_text_or_none(instant: datetime | None) -> str | None:
    return to_text(instant) if instant else None


def from_text_or_none(text: str | None) -> datetime | None:
    return from_text(text) if text else None


def truncate_to_millisecond(instant: datetime) -> datetime:
    """Truncate to the stored precision, so that a stored instant loads as equal."""
    return instant.replace(microsecond=instant.microsecond // 1000 * 1000)
