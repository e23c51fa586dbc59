"""Why a task does not run at its own time. Whatever decides by it compares the reason."""

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
    REQUEUED = "requeued"  # its message died before a worker took it
    RETRY_THROTTLE = "retry_throttle"
    SPEC_REVIEW = "spec_review"
    SUBJECT_COOLDOWN = "subject_cooldown"
    VERIFICATION = "verification"  # a person checks the work
    VERIFIER = "verifier"  # a provider checks the work
    OTHER = "other"  # stored as a sentence that no known reason explains


@dataclass(frozen=True, slots=True)
class Wait:
    """`until` is when the reason is expected to end, which may differ from the task's `due_at`.

    `detail` holds the facts to show, as JSON values: a provider, a budget, a limit.
    `describe_wait` makes the sentence.
    """

    reason: WaitReason
    until: datetime | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Drop what storage cannot keep, so that a stored wait equals the one in hand."""
        if self.until is not None:
            object.__setattr__(self, "until", truncate_to_millisecond(self.until))

    def to_json(self) -> dict[str, Any]:
        """Without what is absent."""
        until = to_text_or_none(self.until)
        found = {"reason": str(self.reason), "until": until, "detail": dict(self.detail)}
        return {name: value for name, value in found.items() if value}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Wait:
        return cls(
            WaitReason(stored["reason"]),
            from_text_or_none(stored.get("until")),
            stored.get("detail", {}),
        )
