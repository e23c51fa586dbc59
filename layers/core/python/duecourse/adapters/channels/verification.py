"""Checks that the platforms' signatures and secret tokens share."""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from datetime import datetime, timedelta

from duecourse.adapters.http.request_errors import NotVerifiedError
from duecourse.domain.access.key_rotation import list_keys
from duecourse.ports.integrations import RotatingKeys

MAX_TIMESTAMP_AGE = timedelta(minutes=5)
_MAX_TIMESTAMP_LENGTH = 12


def require_secrets(keys: RotatingKeys, name: str) -> list[str]:
    """Return the secrets, of which several count while one is being replaced.

    Raises NotVerifiedError without any, since nothing could be verified.
    """
    secrets = list_keys(keys.get(name))
    if not secrets:
        raise NotVerifiedError("no secret is set")
    return secrets


def require_match(name: str, *, actual: str, expected: Iterable[str]) -> None:
    """Raise NotVerifiedError, with `name`, unless `actual` is one of `expected`.

    Compares with each in constant time.
    """
    # compare_digest accepts non-ASCII values only as bytes.
    received, *known = [text.encode("utf-8", "surrogatepass") for text in (actual, *expected)]
    if not any([hmac.compare_digest(received, one) for one in known]):  # noqa: C419 - all are compared
        raise NotVerifiedError(f"the {name} is {'wrong' if actual else 'missing'}")


def require_recent(timestamp: str, *, now: datetime) -> None:
    """Raise NotVerifiedError unless `timestamp`, in Unix seconds, is at most five minutes off."""
    is_number = (
        timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= _MAX_TIMESTAMP_LENGTH
    )
    if not is_number or abs(now.timestamp() - int(timestamp)) > MAX_TIMESTAMP_AGE.total_seconds():
        raise NotVerifiedError("the timestamp is missing, invalid or stale")
