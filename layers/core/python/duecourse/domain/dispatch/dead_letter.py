"""A message that nobody could process."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from duecourse.domain.time.instant import from_text, to_text

BODY_LIMIT = 190_000  # bytes of it as JSON: what is kept with it stays below 200 KB
SHOWN_LIMIT = 2_000  # characters of it in a listing
THROTTLED = "429"


class Queue(StrEnum):
    SLOW_WORK = "slow_work"  # before WORK, whose name its queue's also holds
    WORK = "work"
    FAILURES = "failures"
    NOTICES = "notices"
    CHAT = "chat"
    JOURNAL = "journal"


class Cause(StrEnum):
    """Why it died, as far as Lambda said so. It does for what it invoked by itself; what SQS gave
    up says nothing, and its cause is unknown."""

    CRASH = "crash"
    TIMEOUT = "timeout"
    THROTTLE = "throttle"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True, slots=True)
class DeadLetter:
    """`reason` says why it was kept, `task_id` which task is missing if that is why.

    `was_cut`: it was too long to be kept whole.
    """

    id: str
    queue: Queue
    body: str
    sent_at: datetime
    cause: Cause = Cause.UNKNOWN
    reason: str | None = None
    task_id: str | None = None
    was_cut: bool = False

    @property
    def place(self) -> str:
        """Its own among all letters, which are told in this order: oldest first."""
        return f"{to_text(self.sent_at)}#{self.id}"

    @property
    def stays_because(self) -> str | None:
        """Why it can never be sent back, if so."""
        if self.queue is Queue.JOURNAL:
            return "it names a place in the stream that nobody can send it back to"
        return "it was too long to be kept whole" if self.was_cut else None

    @property
    def can_be_redriven(self) -> bool:
        return self.stays_because is None

    def kept(self, reason: str, *, task_id: str | None = None) -> DeadLetter:
        """As much of it as can be stored."""
        body = _cut(self.body)
        was_cut = self.was_cut or body != self.body
        return replace(self, body=body, was_cut=was_cut, reason=reason, task_id=task_id)

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "queue": str(self.queue),
            "body": self.body,
            "sent_at": to_text(self.sent_at),
            "cause": str(self.cause),
            "reason": self.reason,
            "task_id": self.task_id,
            "was_cut": self.was_cut,
            "can_be_redriven": self.can_be_redriven,
        }

    def shown(self) -> dict[str, Any]:
        """In a listing, which must stay short however long the letters are."""
        body = self.body[:SHOWN_LIMIT]
        return {**self.to_json(), "body": body, "body_cut": self.was_cut or body != self.body}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> DeadLetter:
        return cls(
            id=stored["id"],
            queue=Queue(stored["queue"]),
            body=stored["body"],
            sent_at=from_text(stored["sent_at"]),
            cause=Cause(stored["cause"]),
            reason=stored["reason"],
            task_id=stored.get("task_id"),
            was_cut=stored.get("was_cut", False),
        )


def cause_from(error_code: str | None, error_message: str | None) -> Cause:
    """Lambda says it in a message's attributes where it gave up on an invocation itself."""
    code, said = (error_code or "").strip(), (error_message or "").strip().lower()
    if "timed out" in said:
        return Cause.TIMEOUT
    if code == THROTTLED or said.startswith(("rate exceeded", "throttl")):
        return Cause.THROTTLE
    return Cause.CRASH if code or said else Cause.UNKNOWN


def _cut(body: str) -> str:
    """The longest beginning that fits: a character takes from one byte to twelve."""
    if _size(body) <= BODY_LIMIT:
        return body
    lengths = range(BODY_LIMIT)
    return body[: bisect_right(lengths, BODY_LIMIT, key=lambda n: _size(body[:n])) - 1]


def _size(body: str) -> int:
    return len(json.dumps(body))
