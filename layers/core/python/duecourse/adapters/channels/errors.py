"""What goes wrong with a chat platform, as the engine wants to hear it."""

from __future__ import annotations

from datetime import timedelta

from duecourse.domain.errors import DuecourseError
from duecourse.domain.origin import Effect, Origin

TOO_MANY = 429
LONGEST_WORDS = 500


class ChatError(DuecourseError):
    """The platform answered, and it was no yes. `said` is its own words, never those of ours."""

    type = "ChatError"
    effect = Effect.NONE

    def __init__(
        self,
        channel: str,
        status: int,
        said: str,
        *,
        code: str | None = None,
        retry_after: timedelta | None = None,
    ) -> None:
        super().__init__(f"{channel} answered {status}: {words(said) or 'no words'}")
        self.status = status
        self.code = code
        self.retry_after = retry_after


class FloodError(ChatError):
    """We said too much. `is_for_all`: everywhere, and not just where this was to go."""

    def __init__(
        self, channel: str, said: str, *, wait: timedelta | None, is_for_all: bool = False
    ) -> None:
        super().__init__(channel, TOO_MANY, said, code="rate_limited", retry_after=wait)
        self.is_for_all = is_for_all


class UnreadableError(ChatError):
    """A yes by its status, but not in the platform's own words: it may have arrived."""

    effect = Effect.UNKNOWN

    def __init__(self, channel: str, status: int) -> None:
        super().__init__(channel, status, "nothing that can be read", code="bad_answer")


class TooSoonError(DuecourseError):
    """Nothing was sent: it is not its turn for longer than a send may take."""

    type = "TooSoon"
    code = "not_attempted"
    status = TOO_MANY
    origin = Origin.NOT_ATTEMPTED

    def __init__(self, wait: timedelta) -> None:
        seconds = wait.total_seconds()
        super().__init__(f"nothing was sent yet: there is a wait of {seconds:.1f} s before it")
        self.retry_after = wait


def words(said: str) -> str:
    return " ".join(said.split())[:LONGEST_WORDS]
