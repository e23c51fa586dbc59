"""The error log: one entry per failed run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from duecourse.domain.tasks.adapted_delay import AdaptedDelay
from duecourse.domain.tasks.failure_kind import Kind, kind_to_json
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run_diagnosis import Guess, Location
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import to_text
from duecourse.domain.validation.stored_fields import StoredFields

PROVIDER_LIMIT = 64


@dataclass(frozen=True, kw_only=True, slots=True)
class LoggedError:
    """An entry of the error log. `id` is the run's id.

    `retry_count` is the count after this failure. `learned`: the category comes from an earlier
    correction by a person; the rules alone would give `rule_category`.
    """

    id: str
    task_id: str
    at: datetime
    category: str
    kind: Kind | None = None
    likely: Guess | None = None
    message: str
    attempt: int
    retry_count: int
    counted: bool
    policy: str
    subject: str | None = None
    confidence: float | None = None
    pattern: str | None = None
    location: Location | None = None
    suggested_fix: str | None = None
    type: str | None = None
    code: str | None = None
    status: int | None = None
    phase: str | None = None
    action: Action | None = None
    next_retry_at: datetime | None = None
    provider: str | None = None
    fingerprint: str | None = None
    learned: bool = False
    rule_category: str | None = None
    adapted: AdaptedDelay | None = None


def provider_name(task: Task) -> str | None:
    """Return the provider's name, truncated because it becomes part of a key.

    Callers may send any text as a name.
    """
    name = (task.provider or "").strip()
    return name[:PROVIDER_LIMIT].encode("utf-8", "replace").decode() or None


def error_to_json(error: LoggedError) -> dict[str, Any]:
    return {
        "id": error.id,
        "task_id": error.task_id,
        "subject": error.subject,
        "at": to_text(error.at),
        "category": error.category,
        **kind_to_json(error.kind),
        "likely": error.likely.to_json() if error.likely else None,
        "message": error.message,
        "confidence": error.confidence,
        "pattern": error.pattern,
        "location": error.location.to_json() if error.location else None,
        "suggested_fix": error.suggested_fix,
        "type": error.type,
        "code": error.code,
        "status": error.status,
        "phase": error.phase,
        "attempt": error.attempt,
        "retry_count": error.retry_count,
        "counted": error.counted,
        "action": str(error.action) if error.action else None,
        "next_retry_at": to_text(error.next_retry_at) if error.next_retry_at else None,
        "policy": error.policy,
        "provider": error.provider,
        "fingerprint": error.fingerprint,
        "learned": error.learned or None,
        "read_as": error.rule_category,
        "adapted": error.adapted.to_json() if error.adapted else None,
    }


def error_from_json(stored: Any) -> LoggedError:
    """Parse a stored entry; null fields may be missing. Raises ValueError naming the field."""
    fields = StoredFields.of(stored)
    return LoggedError(
        id=fields.required("id", fields.text("id")),
        task_id=fields.required("task_id", fields.text("task_id")),
        subject=fields.text("subject"),
        at=fields.required("at", fields.instant("at")),
        category=fields.required("category", fields.text("category")),
        kind=Kind.parse(fields.text("kind")),
        likely=fields.nested("likely", Guess.from_json),
        message=fields.required("message", fields.text("message")),
        confidence=fields.number("confidence"),
        pattern=fields.text("pattern"),
        location=fields.nested("location", Location.from_json),
        suggested_fix=fields.text("suggested_fix"),
        type=fields.text("type"),
        code=fields.text("code"),
        status=fields.integer("status"),
        phase=fields.text("phase"),
        attempt=fields.required("attempt", fields.integer("attempt")),
        retry_count=fields.required("retry_count", fields.integer("retry_count")),
        counted=fields.flag("counted", default=True),
        action=fields.member("action", Action),
        next_retry_at=fields.instant("next_retry_at"),
        policy=fields.required("policy", fields.text("policy")),
        provider=fields.text("provider"),
        fingerprint=fields.text("fingerprint"),
        learned=fields.flag("learned", default=False),
        rule_category=fields.text("read_as"),
        adapted=fields.nested("adapted", AdaptedDelay.from_json),
    )
