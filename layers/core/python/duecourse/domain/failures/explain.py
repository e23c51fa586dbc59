"""Explains how a failure would be classified and handled. Nothing is stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from duecourse.domain.errors import BUDGET_EXCEEDED_CODE
from duecourse.domain.failures.classifier.engine import diagnose
from duecourse.domain.failures.decision import decide
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.failure_context import FailureContext
from duecourse.domain.failures.policy import Policy
from duecourse.domain.failures.retry_after import MAX_RETRY_AFTER
from duecourse.domain.failures.subject import Subject
from duecourse.domain.validation.fields import (
    Fields,
    Reader,
    choice_field,
    integer_field,
    nullable,
    object_schema,
    text_field,
)

MAX_ATTEMPTS = 1_000
_MAX_MESSAGE_LENGTH = 1_000_000
_REQUIRED_FIELDS = ("policy", "message")


@dataclass(frozen=True)
class ExplainRequest:
    """A failure to explain. `attempt` is the `retry_count` before it: 0 for the first failure."""

    failure: Failure
    policy: Policy
    attempt: int = 0
    has_spec: bool = False


def parse_explain_request(raw: Mapping[str, Any], policies: Mapping[str, Policy]) -> ExplainRequest:
    """Read the request. Raises InvalidFieldsError naming every invalid field."""
    readers = _field_readers(policies)
    fields = Fields(raw, allowed=readers)
    for name in _REQUIRED_FIELDS:
        if not fields.has(name):
            fields.add_error(name, "is required")
    read = {name: fields.read(name, reader, None) for name, reader in readers.items()}
    evidence = {name: read[name] for name in ("type", "code", "status", "retry_after")}
    fields.raise_if_invalid()
    failure = Failure.create(read["message"], **evidence)
    return ExplainRequest(
        failure, policies[read["policy"]], read["attempt"] or 0, bool(read["spec"])
    )


def explain_request_schema(policies: Mapping[str, Policy]) -> dict[str, Any]:
    """Return the JSON Schema of what `parse_explain_request` accepts."""
    schemas = {name: reader.schema for name, reader in _field_readers(policies).items()}
    optional = {name: nullable(schemas[name]) for name in schemas if name not in _REQUIRED_FIELDS}
    return object_schema({**schemas, **optional}, required=_REQUIRED_FIELDS)


def explain_failure(
    request: ExplainRequest, *, now: datetime, budget_resets_at: datetime
) -> dict[str, Any]:
    """Return the diagnosis and the decision as JSON.

    The subject is assumed to have failed as often as the task, and the code of a used-up budget to
    come from Duecourse itself. If the policy has other delays for subjects, the task has none.
    """
    policy, attempt = request.policy, request.attempt
    diagnosis = diagnose(request.failure, policy)
    context = FailureContext(
        retry_count=attempt,
        max_retries=policy.max_retries,
        failed_at=now,
        budget_resets_at=budget_resets_at,
        has_spec=request.has_spec,
        is_over_budget=request.failure.code == BUDGET_EXCEEDED_CODE,
        subject=None
        if policy.has_subject_delays
        else Subject(id="explained", failure_count=attempt),
    )
    decision = decide(request.failure, diagnosis, policy, context)
    return {
        "policy": policy.name,
        "category": diagnosis.category,
        "kind": str(diagnosis.kind),
        "clears_by": diagnosis.kind.clears_by,
        "likely": diagnosis.likely.to_json() if diagnosis.likely else None,
        "confidence": diagnosis.confidence,
        "pattern": diagnosis.pattern,
        "location": diagnosis.location.to_json() if diagnosis.location else None,
        "suggested_fix": diagnosis.fix,
        "counts": decision.is_counted,
        "action": str(decision.action),
        "status": str(decision.status),
        "delay_seconds": None if decision.delay is None else round(decision.delay.total_seconds()),
        "retry_count": decision.retry_count,
        "max_retries": decision.max_retries,
        "guidance": decision.guidance,
    }


def _field_readers(policies: Mapping[str, Policy]) -> Mapping[str, Reader[Any]]:
    max_seconds = MAX_RETRY_AFTER.total_seconds()
    return {
        "type": text_field(200),
        "code": text_field(200),
        "status": integer_field(100, 599),
        "retry_after": Reader(
            _parse_seconds, {"type": "number", "minimum": 0, "maximum": max_seconds}
        ),
        "message": Reader(_parse_message, {"type": "string", "maxLength": _MAX_MESSAGE_LENGTH}),
        "policy": choice_field(policies),
        "attempt": integer_field(0, MAX_ATTEMPTS),
        "spec": Reader(_parse_bool, {"type": "boolean"}),
    }


def _parse_message(value: Any) -> str:
    """Accept an empty message too, because some errors have only a code."""
    if not isinstance(value, str) or len(value) > _MAX_MESSAGE_LENGTH:
        raise ValueError(f"must be a string of at most {_MAX_MESSAGE_LENGTH:,} characters")
    return value


def _parse_seconds(value: Any) -> float:
    max_seconds = MAX_RETRY_AFTER.total_seconds()
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not 0 <= value <= max_seconds
    ):
        raise ValueError(f"must be a number of seconds from 0 to {max_seconds:,.0f}")
    return float(value)


def _parse_bool(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value
