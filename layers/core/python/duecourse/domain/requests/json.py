"""JSON of tasks, runs, subjects and events for the API, and the stored form of runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, fields
from datetime import datetime
from enum import StrEnum
from types import UnionType
from typing import Any, get_type_hints

from duecourse.domain.failures.subject import Subject
from duecourse.domain.tasks.event import Event
from duecourse.domain.tasks.run import Mutation, MutationStatus, PreviousFailure, ProviderCall, Run
from duecourse.domain.tasks.run_diagnosis import RunDiagnosis
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import Wait
from duecourse.domain.tasks.wait_text import describe_wait
from duecourse.domain.time.instant import from_text, to_text, to_text_or_none

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
    wait = _wait_to_json(task.wait)
    return {
        name: wait[name] if name in wait else to_plain(getattr(task, name))
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
    """Return the run as JSON. Unless `in_full`, results over MAX_INLINE_RESULT are left out."""
    convert = _keep_result if in_full else _omit_if_large
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
        "handler_version": run.handler_version,
        "started_at": to_text(run.started_at),
        "ended_at": to_text_or_none(run.ended_at),
        "nominal_at": to_text(run.nominal_at),
        "lease_expires_at": to_text(run.lease_expires_at),
        "call": call_to_json(run.call),
    }


def _keep_result(result: Any) -> Any:
    return result


def _omit_if_large(result: Any) -> Any:
    size = len(json.dumps(result))
    return result if size <= MAX_INLINE_RESULT else {"left_out": f"{size:,} bytes"}


def subject_to_json(subject: Subject) -> dict[str, Any]:
    return {
        "id": subject.id,
        "failure_count": subject.failure_count,
        "status": str(subject.status) if subject.status else None,
        "last_error_category": subject.last_error_category,
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


def run_to_stored(run: Run) -> dict[str, Any]:
    """Return the run as it is stored with its task.

    Defaults and duplicates are left out: each kilobyte costs a write unit.
    """
    stored: dict[str, Any] = {}
    for name, default in _STORED_UNLESS.items():
        value = getattr(run, name)
        if name == "mutation":
            stored |= _mutation_to_stored(run.mutation, run.id)
        elif value != default:
            stored[_STORED_NAMES.get(name, name)] = _WRITERS.get(name, to_plain)(value)
    return stored


def run_from_stored(stored: Mapping[str, Any]) -> Run:
    renamed = {_FIELD_NAMES.get(name, name): value for name, value in stored.items()}
    values = {name: _READERS[name](value) for name, value in renamed.items() if name in _READERS}
    return Run(**values, mutation=_mutation_from_stored(stored))


def _mutation_to_stored(mutation: Mutation, run_id: str) -> dict[str, Any]:
    key = None if mutation.idempotency_key == run_id else mutation.idempotency_key
    stored = {"key": key, "mutation": to_plain(mutation.status), "result": mutation.result}
    return {name: value for name, value in stored.items() if value is not None}


def _mutation_from_stored(stored: Mapping[str, Any]) -> Mutation:
    status = stored.get("mutation")
    return Mutation(
        idempotency_key=stored.get("key", stored["id"]),
        status=MutationStatus(status) if status else None,
        result=stored.get("result"),
    )


def _previous_failure_to_stored(previous_failure: PreviousFailure) -> list[Any]:
    """Return a list without field names: it is stored with every retry and must be short."""
    return [previous_failure.category, previous_failure.fingerprint, previous_failure.delay_seconds]


def _previous_failure_from_stored(stored: list[Any]) -> PreviousFailure:
    category, fingerprint, delay_seconds = stored
    return PreviousFailure(category=category, fingerprint=fingerprint, delay_seconds=delay_seconds)


def call_to_json(call: ProviderCall | None) -> dict[str, Any] | None:
    return None if call is None else {n: v for n, v in asdict(call).items() if v is not None}


def _reader_of(kind: Any) -> Callable[[Any], Any]:
    """Return the function that converts a stored value to the field type `kind`."""
    if isinstance(kind, UnionType):
        kind = kind.__args__[0]
    if kind is datetime:
        return from_text
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return kind
    return lambda value: value


# Fields of a run in stored order, each with the value at which it is left out.
_STORED_UNLESS = {field.name: field.default for field in fields(Run)} | {
    "phase": MISSING,
    "status": MISSING,
}
# Fields stored under their first name, so that items written by earlier code stay readable.
_STORED_NAMES = {
    "indeterminate_policy": "in_doubt",
    "has_emit": "emits",
    "verify_until": "verify_by",
    "verifier_attempts": "asked_verifier",
    "previous_failure": "follows",
    "originally_due_at": "late_since",
}
_FIELD_NAMES = {stored: name for name, stored in _STORED_NAMES.items()}
_WRITERS: dict[str, Callable[[Any], Any]] = {
    "call": call_to_json,
    "diagnosis": RunDiagnosis.to_stored,
    "previous_failure": _previous_failure_to_stored,
    "waited_for": Wait.to_json,
}
_READERS: dict[str, Callable[[Any], Any]] = {
    **{name: _reader_of(kind) for name, kind in get_type_hints(Run).items()},
    "call": lambda stored: ProviderCall(**stored),
    "diagnosis": RunDiagnosis.from_stored,
    "previous_failure": _previous_failure_from_stored,
    "waited_for": Wait.from_json,
}
# Stored under this name is only the mutation's status.
del _READERS["mutation"]
