"""What all platforms' parsers share: their interface, its result, and when a message was sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from duecourse.adapters.http.raw_request import RawRequest
from duecourse.domain.chat.message import Message
from duecourse.domain.time.instant import truncate_to_millisecond

MAX_DELIVERY_DELAY = timedelta(days=1)  # no platform retries a delivery for longer


@dataclass(frozen=True)
class RefusalResponse:
    """How the HTTP response tells a sender that they may not use chat.

    `make_body` takes the text. `is_limited`: the response is a message of the bot, so not every
    request gets one. Others are shown to the sender only, and the platform expects them.
    """

    make_body: Callable[[str], Mapping[str, Any]]
    is_limited: bool = False


@dataclass(frozen=True)
class InboundResult:
    """The result of an inbound request. `message` is None if there is nothing to do.

    `reply` is the immediate HTTP response, for platforms that expect more than a status. `refusal`
    replaces it for a sender who may not use chat; None if the platform shows no response.
    """

    message: Message | None = None
    reply: Mapping[str, Any] | None = None
    refusal: RefusalResponse | None = field(default=None, compare=False)


class InboundParser(Protocol):
    def parse(self, request: RawRequest, *, now: datetime) -> InboundResult:
        """Return the message in a verified request.

        Raises NotVerifiedError if verification fails, and InvalidFieldsError if the content is
        invalid.
        """


def resolve_sent_at(seconds: float | None, *, now: datetime) -> datetime:
    """Return when the person sent the message, so "in 10 minutes" counts from then.

    Returns `now` if the platform's time is missing or implausible.
    """
    if seconds is None or not 0 <= now.timestamp() - seconds <= MAX_DELIVERY_DELAY.total_seconds():
        return now
    return truncate_to_millisecond(datetime.fromtimestamp(seconds, UTC))
