"""How long the settings of a person are kept: until they have not written for over a year."""

from __future__ import annotations

from datetime import datetime, timedelta

SETTINGS_RETENTION = timedelta(days=400)


def settings_expiry(now: datetime) -> datetime:
    return now + SETTINGS_RETENTION


def needs_renewal(expires_at: datetime | None, *, now: datetime) -> bool:
    """Return True in the second half of the retention, so that few messages cause a write.

    Settings that an older version stored have no expiry, and get one.
    """
    return expires_at is None or expires_at - now < SETTINGS_RETENTION / 2


def is_daily_run(now: datetime) -> bool:
    """Return whether a duty of once a day is due in a sweep of every five minutes."""
    return now.hour == 3 and now.minute < 5
