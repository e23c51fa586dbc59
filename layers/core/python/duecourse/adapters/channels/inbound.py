"""What all platforms' webhooks share: verification, and the result of parsing a request."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from duecourse.adapters.http.raw_request import RawRequest
from duecourse.adapters.http.request_errors import NotVerifiedError
from duecourse.domain.chat.message import Message
from duecourse.domain.time.instant import truncate_to_millisecond
from duecourse.ports.integrations import Keys

MAX_TIMESTAMP_AGE = timedelta(minutes=5)
MAX_DELIVERY_DELAY = timedelta(days=1)  # no platform retries a delivery for longer
_MAX_TIMESTAMP_LENGTH = 12


@dataclass(frozen=True)
class InboundResult:
    """The result of an inbound request. `message` is None if there is nothing to do.

    `reply` is the immediate HTTP response, for platforms that expect more than a status.
    """

    message: Message | None = None
    reply: Mapping[str, Any] | None = None


class InboundParser(Protocol):
    def parse(self, request: RawRequest, *, now: datetime) -> InboundResult:
        """Return the message in a verified request.

        Raises NotVerifiedError if verification fails, and InvalidFieldsError if the content is
        invalid.
        """


def require_secret(keys: Keys, name: str) -> str:
    """Return the secret. Raises NotVerifiedError without one, since nothing could be verified."""
    secret = (keys.get(name) or "").strip()
    if not secret:
        raise NotVerifiedError("no secret is set")
    return secret


def require_match(actual: str, expected: str) -> None:
    """Compare in constant time. Raises NotVerifiedError if the values differ."""
    # compare_digest accepts non-ASCII values only as bytes.
    pair = [text.encode("utf-8", "surrogatepass") for text in (actual, expected)]
    if not hmac.compare_digest(*pair):
        raise NotVerifiedError("the proof is wrong" if actual else "the proof is missing")


def require_recent(timestamp: str, *, now: datetime) -> None:
    """Raise NotVerifiedError unless `timestamp`, in Unix seconds, is at most five minutes off."""
    is_number = (
        timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= _MAX_TIMESTAMP_LENGTH
    )
    if not is_number or abs(now.timestamp() - int(timestamp)) > MAX_TIMESTAMP_AGE.total_seconds():
        raise NotVerifiedError("the timestamp is stale or none")


def resolve_sent_at(seconds: float | None, *, now: datetime) -> datetime:
    """Return when the person sent the message, so "in 10 minutes" counts from then.

    Returns `now` if the platform's time is missing or implausible.
    """
    if seconds is None or not 0 <= now.timestamp() - seconds <= MAX_DELIVERY_DELAY.total_seconds():
        return now
    return truncate_to_millisecond(datetime.fromtimestamp(seconds, UTC))
