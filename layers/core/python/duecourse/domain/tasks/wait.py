"""Why a task does not run at its scheduled time. Code compares `reason`, never the sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from duecourse.domain.time.instant import (
    from_text_or_none,
    to_text_or_none,
    truncate_to_millisecond,
)


class WaitReason(StrEnum):
    BUDGET = "budget"
    CIRCUIT_BREAKER = "circuit_breaker"
    QUIET_HOURS = "quiet_hours"
    REQUEUED = "requeued"  # its queue message was dead-lettered before a worker claimed it
    RETRY_THROTTLE = "retry_throttle"
    SPEC_REVIEW = "spec_review"
    SUBJECT_COOLDOWN = "subject_cooldown"
    VERIFICATION = "verification"  # by a person
    VERIFIER = "verifier"  # verification by a provider
    OTHER = "other"  # read from an older item whose sentence matches no known reason


@dataclass(frozen=True, slots=True)
class Wait:
    """Why a task waits. `until` is when the reason should end; the task's `due_at` may differ.

    `task_id`: the task that has to end first, if it waits for one.
    `detail` holds the facts to show, as JSON values: a provider, a budget, a limit.
    `describe_wait` turns them into a sentence.
    """

    reason: WaitReason
    until: datetime | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)
    task_id: str | None = None

    @property
    def facts(self) -> dict[str, Any]:
        """Return the detail as shown to callers, with the awaited task."""
        return {**self.detail, **({"task_id": self.task_id} if self.task_id else {})}

    @property
    def channel(self) -> str | None:
        """The chat channel that the task waits for, if it does."""
        found = self.detail.get("channel") if self.reason is WaitReason.CIRCUIT_BREAKER else None
        return found if isinstance(found, str) else None

    @property
    def is_key_refused(self) -> bool:
        """Return whether the task waits for a provider that does not accept our key."""
        return self.detail.get("key_refused") is True

    def __post_init__(self) -> None:
        """Truncate `until` to the stored precision, so that a stored wait loads as equal."""
        if self.until is not None:
            object.__setattr__(self, "until", truncate_to_millisecond(self.until))

    def to_json(self) -> dict[str, Any]:
        """Return the stored form, without empty fields."""
        stored = {
            "reason": str(self.reason),
            "until": to_text_or_none(self.until),
            "detail": dict(self.detail),
            "task_id": self.task_id,
        }
        return {name: value for name, value in stored.items() if value}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Wait:
        return cls(
            WaitReason(stored["reason"]),
            from_text_or_none(stored.get("until")),
            stored.get("detail", {}),
            stored.get("task_id"),
        )
