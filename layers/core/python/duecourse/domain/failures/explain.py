"""What would happen to a failure: the classifier and the decision, with nothing written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from duecourse.domain.failures.classifier.engine import diagnose
from duecourse.domain.failures.decision import Situation, decide
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.policy import Policy
from duecourse.domain.failures.retry_after import LONGEST_RETRY_AFTER
from duecourse.domain.failures.subject import Subject
from duecourse.domain.validation.fields import (
    Fields,
    Reader,
    object_schema,
    one_of,
    or_null,
    text,
    whole_number,
)

MOST_ATTEMPTS = 1_000
_LONGEST_MESSAGE = 1_000_000
_REQUIRED = ("policy", "message")


@dataclass(frozen=True)
class Question:
    """`attempt` is `retry_count` before this failure: 0 for the first."""

    failure: Failure
    policy: Policy
    attempt: int = 0
    has_spec: bool = False


def question_from(raw: Mapping[str, Any], policies: Mapping[str, Policy]) -> Question:
    """Raises InvalidFieldsError naming every field that is wrong."""
    readers = _readers(policies)
    fields = Fields(raw, known=readers)
    for name in _REQUIRED:
        if not fields.has(name):
            fields.refuse(name, "is required")
    read = {name: fields.read(name, reader, None) for name, reader in readers.items()}
    evidence = {name: read[name] for name in ("type", "code", "status", "retry_after")}
    fields.check()
    failure = Failure.of(read["message"], **evidence)
    return Question(failure, policies[read["policy"]], read["attempt"] or 0, bool(read["spec"]))


def question_schema(policies: Mapping[str, Policy]) -> dict[str, Any]:
    """What `question_from` takes."""
    schemas = {name: reader.schema for name, reader in _readers(policies).items()}
    optional = {name: or_null(schemas[name]) for name in schemas if name not in _REQUIRED}
    return object_schema({**schemas, **optional}, required=_REQUIRED)


def explained(question: Question, *, now: datetime, budget_resets_at: datetime) -> dict[str, Any]:
    """Return the decision for a subject that has failed as often as the task has."""
    policy, attempt = question.policy, question.attempt
    diagnosis = diagnose(question.failure, policy)
    situation = Situation(
        retry_count=attempt,
        max_retries=policy.max_retries,
        failed_at=now,
        budget_resets_at=budget_resets_at,
        has_spec=question.has_spec,
        subject=Subject(id="explained", failure_count=attempt),
    )
    decision = decide(question.failure, diagnosis, policy, situation)
    return {
        "policy": policy.name,
        "category": diagnosis.category,
        "confidence": diagnosis.confidence,
        "pattern": diagnosis.pattern,
        "location": diagnosis.location.to_json() if diagnosis.location else None,
        "suggested_fix": diagnosis.fix,
        "counts": decision.counts,
        "action": str(decision.action),
        "status": str(decision.status),
        "delay_seconds": None if decision.delay is None else round(decision.delay.total_seconds()),
        "retry_count": decision.retry_count,
        "max_retries": decision.max_retries,
        "guidance": decision.guidance,
    }


def _readers(policies: Mapping[str, Policy]) -> Mapping[str, Reader[Any]]:
    most = LONGEST_RETRY_AFTER.total_seconds()
    return {
        "type": text(200),
        "code": text(200),
        "status": whole_number(100, 599),
        "retry_after": Reader(_seconds, {"type": "number", "minimum": 0, "maximum": most}),
        "message": Reader(_message, {"type": "string", "maxLength": _LONGEST_MESSAGE}),
        "policy": one_of(policies),
        "attempt": whole_number(0, MOST_ATTEMPTS),
        "spec": Reader(_yes_or_no, {"type": "boolean"}),
    }


def _message(value: Any) -> str:
    """It may be empty: some errors are but a code."""
    if not isinstance(value, str) or len(value) > _LONGEST_MESSAGE:
        raise ValueError(f"must be a text of at most {_LONGEST_MESSAGE:,} characters")
    return value


def _seconds(value: Any) -> float:
    most = LONGEST_RETRY_AFTER.total_seconds()
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        raise ValueError(f"must be seconds from 0 to {most:,.0f}")
    return float(value)


def _yes_or_no(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value
