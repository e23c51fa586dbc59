"""A message that nobody could process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from duecourse.domain.instant import from_text, to_text

BODY_LIMIT = 64_000
THROTTLED = "429"


class Queue(StrEnum):
    WORK = "work"
    FAILURES = "failures"
    JOURNAL = "journal"


class Cause(StrEnum):
    """Why it died, as far as Lambda said so; SQS alone only knows that nobody took it."""

    CRASH = "crash"
    TIMEOUT = "timeout"
    THROTTLE = "throttle"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True, slots=True)
class DeadLetter:
    """`reason` says why it was kept, where no task could be found for it."""

    id: str
    queue: Queue
    body: str
    sent_at: datetime
    cause: Cause = Cause.UNKNOWN
    reason: str | None = None

    @property
    def can_be_redriven(self) -> bool:
        """What died behind the stream names a place in it that nobody can send it back to."""
        return self.queue is not Queue.JOURNAL

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "queue": str(self.queue),
            "body": self.body,
            "sent_at": to_text(self.sent_at),
            "cause": str(self.cause),
            "reason": self.reason,
            "can_be_redriven": self.can_be_redriven,
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> DeadLetter:
        return cls(
            id=stored["id"],
            queue=Queue(stored["queue"]),
            body=stored["body"],
            sent_at=from_text(stored["sent_at"]),
            cause=Cause(stored["cause"]),
            reason=stored["reason"],
        )


def cause_from(error_code: str | None, error_message: str | None) -> Cause:
    """Lambda says it in a message's attributes where it gave up on an invocation itself."""
    code, said = (error_code or "").strip(), (error_message or "").strip().lower()
    if "timed out" in said:
        return Cause.TIMEOUT
    if code == THROTTLED or said.startswith(("rate exceeded", "throttl")):
        return Cause.THROTTLE
    return Cause.CRASH if code or said else Cause.UNKNOWN
