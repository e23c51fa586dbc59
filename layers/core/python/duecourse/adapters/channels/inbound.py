"""What all chat platforms have in common: whoever speaks for one proves it, and is then heard."""

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
MAX_DELIVERY_DELAY = timedelta(days=1)  # no platform tries for longer to deliver a message
_MAX_TIMESTAMP_LENGTH = 12


@dataclass(frozen=True)
class InboundResult:
    """`message` is None where there is nothing to do; `reply` is what the platform is told at once,
    where it wants more than to know that we heard it."""

    message: Message | None = None
    reply: Mapping[str, Any] | None = None


class InboundParser(Protocol):
    def parse(self, request: RawRequest, *, now: datetime) -> InboundResult:
        """Raises NotVerifiedError, and InvalidFieldsError for what is proven but unreadable."""


def require_secret(keys: Keys, name: str) -> str:
    """Where there is none, nobody can prove anything. Raises NotVerifiedError."""
    secret = (keys.get(name) or "").strip()
    if not secret:
        raise NotVerifiedError("no secret is set")
    return secret


def require_match(actual: str, expected: str) -> None:
    """In a time that tells nothing of how much was right. Raises NotVerifiedError."""
    # As bytes: of texts, `compare_digest` takes ASCII only.
    pair = [text.encode("utf-8", "surrogatepass") for text in (actual, expected)]
    if not hmac.compare_digest(*pair):
        raise NotVerifiedError("the proof is wrong" if actual else "the proof is missing")


def require_recent(timestamp: str, *, now: datetime) -> None:
    """`timestamp` in whole seconds since 1970. Raises NotVerifiedError."""
    is_number = (
        timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= _MAX_TIMESTAMP_LENGTH
    )
    if not is_number or abs(now.timestamp() - int(timestamp)) > MAX_TIMESTAMP_AGE.total_seconds():
        raise NotVerifiedError("the timestamp is stale or none")


def resolve_sent_at(seconds: float | None, *, now: datetime) -> datetime:
    """When a person spoke, as the platform tells it: "in 10 minutes" counts from then.

    What cannot be so, as its clock or ours is wrong, counts from now.
    """
    if seconds is None or not 0 <= now.timestamp() - seconds <= MAX_DELIVERY_DELAY.total_seconds():
        return now
    return truncate_to_millisecond(datetime.fromtimestamp(seconds, UTC))
