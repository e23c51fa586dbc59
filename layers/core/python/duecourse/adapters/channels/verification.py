"""Checks that the platforms' signatures and secret tokens share."""

from __future__ import annotations

import hmac
from datetime import datetime, timedelta

from duecourse.adapters.http.request_errors import NotVerifiedError
from duecourse.ports.integrations import Keys

MAX_TIMESTAMP_AGE = timedelta(minutes=5)
_MAX_TIMESTAMP_LENGTH = 12


def require_secret(keys: Keys, name: str) -> str:
    """Return the secret. Raises NotVerifiedError without one, since nothing could be verified."""
    secret = (keys.get(name) or "").strip()
    if not secret:
        raise NotVerifiedError("no secret is set")
    return secret


def require_match(name: str, *, actual: str, expected: str) -> None:
    """Compare in constant time. Raises NotVerifiedError, with `name`, if the values differ."""
    # compare_digest accepts non-ASCII values only as bytes.
    pair = [text.encode("utf-8", "surrogatepass") for text in (actual, expected)]
    if not hmac.compare_digest(*pair):
        raise NotVerifiedError(f"the {name} is {'wrong' if actual else 'missing'}")


def require_recent(timestamp: str, *, now: datetime) -> None:
    """Raise NotVerifiedError unless `timestamp`, in Unix seconds, is at most five minutes off."""
    is_number = (
        timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= _MAX_TIMESTAMP_LENGTH
    )
    if not is_number or abs(now.timestamp() - int(timestamp)) > MAX_TIMESTAMP_AGE.total_seconds():
        raise NotVerifiedError("the timestamp is missing, invalid or stale")
