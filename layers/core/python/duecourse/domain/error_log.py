"""The error log: one entry for each run that failed, as people and programs read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from duecourse.domain.instant import from_text, to_text
from duecourse.domain.run import Run, RunStatus
from duecourse.domain.task import Task

PROVIDER_LIMIT = 64
UNKNOWN = "unknown"
_FAILED = frozenset(
    status for status in RunStatus if status.partition(":")[0] in ("paused", "failed", "crashed")
)
_INSTANTS = ("at", "next_retry_at")


@dataclass(frozen=True, kw_only=True, slots=True)
class LoggedError:
    """`id` is that of the run. `retry_count` is as it stood after the failure. `learned`: it was
    read so because a person said so before, and by the rules it would be `read_as`."""

    id: str
    task_id: str
    at: datetime
    category: str
    message: str
    attempt: int
    retry_count: int
    counted: bool
    policy: str
    subject: str | None = None
    confidence: float | None = None
    pattern: str | None = None
    location: Mapping[str, Any] | None = None
    suggested_fix: str | None = None
    type: str | None = None
    code: str | None = None
    status: int | None = None
    phase: str | None = None
    action: str | None = None
    next_retry_at: datetime | None = None
    provider: str | None = None
    fingerprint: str | None = None
    learned: bool | None = None
    read_as: str | None = None
    adapted: Mapping[str, Any] | None = None


def is_failure(run: Run) -> bool:
    """A run that only waits for somebody's word has no error to tell of."""
    is_error = run.error is not None or run.category is not None
    return run.status in _FAILED and (is_error or run.status is RunStatus.CRASHED)


def logged_error(task: Task, run: Run) -> LoggedError:
    """What is told of a failed run; `task` is as the failure left it."""
    noted = run.diagnosis or {}
    return LoggedError(
        id=run.id,
        task_id=task.id,
        subject=task.subject,
        at=run.ended_at or run.started_at,
        category=run.category or UNKNOWN,
        message=run.error or "",
        confidence=noted.get("confidence"),
        pattern=noted.get("pattern"),
        location=noted.get("location"),
        suggested_fix=noted.get("fix") or None,
        type=noted.get("type"),
        code=noted.get("code"),
        status=noted.get("status"),
        phase=noted.get("phase") or str(run.phase),
        attempt=run.attempt,
        # A series that goes on begins to count anew: the task no longer knows how far it was.
        retry_count=noted.get("retry_count", task.retry_count),
        counted=noted.get("counted", True),
        action=noted.get("action"),
        next_retry_at=task.next_retry_at,
        policy=task.policy,
        provider=provider_of(task),
        fingerprint=noted.get("fingerprint"),
        learned=noted.get("learned"),
        read_as=noted.get("read_as", {}).get("category"),
        adapted=noted.get("adapted"),
    )


def provider_of(task: Task) -> str | None:
    """The name cut: it becomes part of a key, and callers may send any text for it."""
    name = (task.provider or "").strip()
    return name[:PROVIDER_LIMIT].encode("utf-8", "replace").decode() or None


def error_to_json(error: LoggedError) -> dict[str, Any]:
    return {
        "id": error.id,
        "task_id": error.task_id,
        "subject": error.subject,
        "at": to_text(error.at),
        "category": error.category,
        "message": error.message,
        "confidence": error.confidence,
        "pattern": error.pattern,
        "location": dict(error.location) if error.location else None,
        "suggested_fix": error.suggested_fix,
        "type": error.type,
        "code": error.code,
        "status": error.status,
        "phase": error.phase,
        "attempt": error.attempt,
        "retry_count": error.retry_count,
        "counted": error.counted,
        "action": error.action,
        "next_retry_at": to_text(error.next_retry_at) if error.next_retry_at else None,
        "policy": error.policy,
        "provider": error.provider,
        "fingerprint": error.fingerprint,
        "learned": error.learned,
        "read_as": error.read_as,
        "adapted": dict(error.adapted) if error.adapted else None,
    }


def error_from_json(stored: Mapping[str, Any]) -> LoggedError:
    """Also of what was stored without its nulls."""
    instants = {name: from_text(stored[name]) for name in _INSTANTS if stored.get(name)}
    return LoggedError(**{**stored, **instants})
