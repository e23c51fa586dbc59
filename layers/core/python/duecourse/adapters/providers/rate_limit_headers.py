"""Read from response headers how long to wait before the next call."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta

from duecourse.domain.failures.retry_after import parse_retry_after

_TOO_MANY_REQUESTS = 429
_RESET_HEADER = re.compile(r"x-ratelimit-reset-[a-z-]{1,40}|anthropic-ratelimit-[a-z-]{1,40}-reset")


def retry_after_from_headers(
    headers: Mapping[str, str], *, status: int, now: datetime
) -> timedelta | None:
    """Return the wait, or None. Header names are in lower case.

    Every response tells when the limits reset; that matters only if a limit was the reason (429).
    """
    wait = _parse_milliseconds(headers.get("retry-after-ms"))
    if wait is None:
        wait = parse_retry_after(headers.get("retry-after"), at=now)
    if wait is None and status == _TOO_MANY_REQUESTS:
        wait = _wait_until_reset(headers, now)
    return wait


def _wait_until_reset(headers: Mapping[str, str], now: datetime) -> timedelta | None:
    """Return the longest wait of the exhausted limits, or of all limits if none is marked so."""
    resets = [name for name in headers if _RESET_HEADER.fullmatch(name)]
    exhausted = [name for name in resets if headers.get(name.replace("reset", "remaining")) == "0"]
    waits = [_parse_wait(headers[name], now) for name in exhausted or resets]
    return max((wait for wait in waits if wait is not None), default=None)


def _parse_wait(value: str, now: datetime) -> timedelta | None:
    """Parse a duration (6m0s) or an instant (2026-02-17T12:00:30Z)."""
    wait = parse_retry_after(value, at=now)
    if wait is not None:
        return wait
    try:
        return parse_retry_after(datetime.fromisoformat(value) - now)
    except (TypeError, ValueError, OverflowError):
        return None


def _parse_milliseconds(value: str | None) -> timedelta | None:
    return parse_retry_after(f"{value.strip()}ms") if value is not None else None
