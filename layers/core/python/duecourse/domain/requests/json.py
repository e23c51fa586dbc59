"""JSON of tasks, runs, subjects and events for the API, and the stored form of runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from duecourse.domain.tasks.advice import visible_guidance
from duecourse.domain.tasks.failure_kind import kind_to_json
from duecourse.domain.tasks.run import (
    ProviderCall,
    Run,
)
from duecourse.domain.tasks.run_diagnosis import NOT_DIAGNOSED
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import Wait
from duecourse.domain.tasks.wait_text import describe_wait
from duecourse.domain.text.quotation import unquote
from duecourse.domain.text.redact_json import redact_json
from duecourse.domain.time.instant import to_text, to_text_or_none

if TYPE_CHECKING:
    from duecourse.domain.failures.subject import Subject
    from duecourse.domain.tasks.event import Event

MAX_INLINE_RESULT = 16 * 1024


_PLAIN = frozenset({str, int, bool})
# The fields and properties of a task in the API's JSON.
PUBLIC_FIELDS = (
    "id",
    "short_id",
    "type",
    "channel",
    "sender_id",
    "reply_target",
    "description",
    "due_at",
    "nominal_at",
    "timezone",
    "repeat",
    "status",
    "paused",
    "created_at",
    "created_by",
    "delivered_at",
    "retry_count",
    "max_retries",
    "last_error",
    "last_error_category",
    "last_error_kind",
    "last_error_clears_by",
    "next_retry_at",
    "recovery_action",
    "guidance",
    "policy",
    "subject",
    "payload",
    "snooze_of",
    "review_of",
    "verify",
    "wait",
    "wait_until",
    "wait_detail",
    "wait_text",
    "run_id",
    "version",
)


def task_to_json(task: Task) -> dict[str, Any]:
    """Return the task as everybody may see it: the secrets of its payload are masked."""
    # The worker needs only what stores a run.
    from duecourse.domain.requests.masked_payload import mask_payload

    converted = {
        **_wait_to_json(task.wait),
        "payload": mask_payload(task.type, task.payload),
        "guidance": [unquote(hint) for hint in visible_guidance(task)],
    }
    return {
        name: converted[name] if name in converted else to_plain(getattr(task, name))
        for name in PUBLIC_FIELDS
    }


def _wait_to_json(wait: Wait | None) -> dict[str, Any]:
    return {
        "wait": str(wait.reason) if wait else None,
        "wait_until": to_text_or_none(wait.until) if wait else None,
        "wait_detail": wait.facts if wait else {},
        "wait_text": describe_wait(wait),
    }


def to_plain(value: Any) -> Any:
    """Convert a field's value to what JSON can hold, by its type."""
    if value is None or type(value) in _PLAIN:
        return value
    if isinstance(value, datetime):
        return to_text(value)
    if isinstance(value, StrEnum):
        return str(value)
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value


def run_to_json(task_id: str, run: Run, *, in_full: bool = True) -> dict[str, Any]:
    """Return the run as JSON, without secrets in its results.

    Unless `in_full`, results over MAX_INLINE_RESULT are left out.
    """
    note = run.diagnosis or NOT_DIAGNOSED
    convert = redact_json if in_full else _redact_unless_large
    return {
        "id": run.id,
        "task_id": task_id,
        "attempt": run.attempt,
        "retry_of": run.retry_of,
        "reason": str(run.reason),
        "phase": str(run.phase),
        "status": str(run.status),
        "prepare_result": convert(run.prepare_result),
        "mutation": {
            "status": to_plain(run.mutation.status),
            "result": convert(run.mutation.result),
            "key": run.mutation.idempotency_key,
        },
        "error": run.error,
        "category": run.category,
        **kind_to_json(note.kind),
        "likely": note.likely.to_json() if note.likely else None,
        "handler_version": run.handler_version,
        "started_at": to_text(run.started_at),
        "ended_at": to_text_or_none(run.ended_at),
        "nominal_at": to_text(run.nominal_at),
        "lease_expires_at": to_text(run.lease_expires_at),
        "call": call_to_json(run.call),
    }


def _redact_unless_large(result: Any) -> Any:
    size = len(json.dumps(result))
    return redact_json(result) if size <= MAX_INLINE_RESULT else {"left_out": f"{size:,} bytes"}


def subject_to_json(subject: Subject) -> dict[str, Any]:
    return {
        "id": subject.id,
        "failure_count": subject.failure_count,
        "status": str(subject.status) if subject.status else None,
        "last_error_category": subject.last_error_category,
        **kind_to_json(subject.last_error_kind, prefix="last_error_"),
        "last_error_message": subject.last_error_message,
        "last_attempt_at": to_text_or_none(subject.last_attempt_at),
        "cooldown_until": to_text_or_none(subject.cooldown_until),
    }


def event_to_json(event: Event) -> dict[str, Any]:
    return {
        "type": str(event.type),
        "task_id": event.task_id,
        "at": to_text(event.at),
        "detail": event.detail,
    }


def call_to_json(call: ProviderCall | None) -> dict[str, Any] | None:
    return None if call is None else {n: v for n, v in asdict(call).items() if v is not None}
