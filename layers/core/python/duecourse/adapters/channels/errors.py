"""Errors of the chat platforms, with the fields that failure classification uses."""

from __future__ import annotations

from datetime import timedelta

from duecourse.domain.errors import ChannelUnauthorizedError, DuecourseError
from duecourse.domain.http.exchange import GATEWAY_STATUSES
from duecourse.domain.origin import Effect, Origin

TOO_MANY_REQUESTS = 429
MAX_MESSAGE_LENGTH = 500


class ChatError(DuecourseError):
    """The platform rejected the call, or a gateway before it could not say whether it did.

    `message` is the platform's text, not the user's.
    """

    type = "ChatError"
    effect = Effect.NONE

    def __init__(
        self,
        channel: str,
        status: int,
        message: str,
        *,
        code: str | None = None,
        retry_after: timedelta | None = None,
    ) -> None:
        super().__init__(f"{channel} answered {status}: {clean_message(message) or 'no words'}")
        self.status = status
        self.code = code
        self.retry_after = retry_after
        if status in GATEWAY_STATUSES:
            self.effect = Effect.UNKNOWN


class RateLimitedError(ChatError):
    """The platform's rate limit was exceeded. `is_global`: for all targets, not only this one."""

    def __init__(
        self, channel: str, message: str, *, retry_after: timedelta | None, is_global: bool = False
    ) -> None:
        super().__init__(
            channel, TOO_MANY_REQUESTS, message, code="rate_limited", retry_after=retry_after
        )
        self.is_global = is_global


class UnreadableResponseError(ChatError):
    """The status says success, but the body is not the platform's. The message may have arrived."""

    effect = Effect.UNKNOWN

    def __init__(self, channel: str, status: int) -> None:
        super().__init__(channel, status, "nothing that can be read", code="bad_answer")


class LocalRateLimitError(DuecourseError):
    """Nothing was sent: our own rate limiter would wait longer than the deadline."""

    type = "TooSoon"
    code = "not_attempted"
    status = TOO_MANY_REQUESTS
    origin = Origin.NOT_ATTEMPTED

    def __init__(self, wait: timedelta) -> None:
        seconds = wait.total_seconds()
        super().__init__(f"nothing was sent yet: there is a wait of {seconds:.1f} s before it")
        self.retry_after = wait


def clean_message(message: str) -> str:
    return " ".join(message.split())[:MAX_MESSAGE_LENGTH]


def token_refused(channel: str, message: str, *, status: int) -> ChannelUnauthorizedError:
    """Return the error for a call whose token the platform refused."""
    words = clean_message(message) or f"status {status}"
    return ChannelUnauthorizedError(
        channel, f"the platform refuses the bot's token ({words})", status=status
    )
