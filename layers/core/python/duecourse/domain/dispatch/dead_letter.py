"""A dead letter: a queue message that could not be processed."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from duecourse.domain.time.instant import from_text, to_text

BODY_LIMIT = 190_000  # bytes as JSON, so that the whole item stays below 200 KB
THROTTLED_CODE = "429"


class Queue(StrEnum):
    SLOW_WORK = "slow_work"  # before WORK, because the name of its queue contains "work"
    WORK = "work"
    FAILURES = "failures"
    NOTIFICATIONS = "notices"
    CHAT = "chat"
    JOURNAL = "journal"


class Cause(StrEnum):
    """Why a message was dead-lettered.

    Lambda reports a cause for its own asynchronous invocations. A message that SQS moved after too
    many receives has none, so its cause is unknown.
    """

    CRASH = "crash"
    TIMEOUT = "timeout"
    THROTTLE = "throttle"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True, slots=True)
class DeadLetter:
    """A message from a dead-letter queue.

    `reason`: why it was stored. `task_id`: the missing task, if that is the reason; for a letter of
    the journal, the task whose change could not be journaled.
    `is_truncated`: the body was too long to store completely.
    """

    id: str
    queue: Queue
    body: str
    sent_at: datetime
    cause: Cause = Cause.UNKNOWN
    reason: str | None = None
    task_id: str | None = None
    is_truncated: bool = False

    @property
    def sort_key(self) -> str:
        """Return a unique key that sorts dead letters oldest first."""
        return f"{to_text(self.sent_at)}#{self.id}"

    @property
    def redrive_obstacle(self) -> str | None:
        """Return why the message can never be redriven, or None if it can."""
        return "its body was truncated when it was stored" if self.is_truncated else None

    @property
    def can_redrive(self) -> bool:
        return self.redrive_obstacle is None

    def prepare_for_storage(self, reason: str, *, task_id: str | None = None) -> DeadLetter:
        """Return the letter with its reason, and with its body truncated to what can be stored."""
        body = _truncate_body(self.body)
        was_cut = self.is_truncated or body != self.body
        return replace(self, body=body, is_truncated=was_cut, reason=reason, task_id=task_id)

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "queue": str(self.queue),
            "body": self.body,
            "sent_at": to_text(self.sent_at),
            "cause": str(self.cause),
            "reason": self.reason,
            "task_id": self.task_id,
            "was_cut": self.is_truncated,
            "can_be_redriven": self.can_redrive,
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
            task_id=stored.get("task_id"),
            is_truncated=stored.get("was_cut", False),
        )


def parse_cause(error_code: str | None, error_message: str | None) -> Cause:
    """Return the cause from the message attributes that Lambda sets on a failed invocation."""
    code, message = (error_code or "").strip(), (error_message or "").strip().lower()
    if "timed out" in message:
        return Cause.TIMEOUT
    if code == THROTTLED_CODE or message.startswith(("rate exceeded", "throttl")):
        return Cause.THROTTLE
    return Cause.CRASH if code or message else Cause.UNKNOWN


def _truncate_body(body: str) -> str:
    """Return the longest prefix that fits. A character takes 1 to 12 bytes as JSON."""
    if _json_size(body) <= BODY_LIMIT:
        return body
    lengths = range(BODY_LIMIT)
    return body[: bisect_right(lengths, BODY_LIMIT, key=lambda n: _json_size(body[:n])) - 1]


def _json_size(body: str) -> int:
    return len(json.dumps(body))
