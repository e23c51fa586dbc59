"""What goes wrong with a chat platform, as the engine wants to hear it."""

from __future__ import annotations

from datetime import timedelta

from duecourse.domain.errors import DuecourseError
from duecourse.domain.origin import Effect, Origin

TOO_MANY_REQUESTS = 429
MAX_MESSAGE_LENGTH = 500


class ChatError(DuecourseError):
    """The platform answered, and it was no yes. `said` is its own words, never those of ours."""

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


class RateLimitedError(ChatError):
    """We said too much. `is_for_all`: everywhere, and not just where this was to go."""

    def __init__(
        self, channel: str, message: str, *, retry_after: timedelta | None, is_global: bool = False
    ) -> None:
        super().__init__(
            channel, TOO_MANY_REQUESTS, message, code="rate_limited", retry_after=retry_after
        )
        self.is_global = is_global


class UnreadableResponseError(ChatError):
    """A yes by its status, but not in the platform's own words: it may have arrived."""

    effect = Effect.UNKNOWN

    def __init__(self, channel: str, status: int) -> None:
        super().__init__(channel, status, "nothing that can be read", code="bad_answer")


class LocalRateLimitError(DuecourseError):
    """Nothing was sent: it is not its turn for longer than a send may take."""

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
