"""What would happen to a failure: the classifier and the decision, with nothing written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from duecourse.domain.budget import next_reset
from duecourse.domain.classify import diagnose
from duecourse.domain.decision import Situation, decide
from duecourse.domain.failure import Failure
from duecourse.domain.fields import Fields, one_of, text, whole_number
from duecourse.domain.policy import Policy
from duecourse.domain.retry_after import LONGEST_RETRY_AFTER
from duecourse.domain.subject import Subject

MOST_ATTEMPTS = 1_000
_LONGEST_MESSAGE = 1_000_000
_FIELDS = {"policy", "attempt", "code", "status", "type", "retry_after", "message", "spec"}


@dataclass(frozen=True)
class Question:
    """`attempt` is `retry_count` before this failure: 0 for the first."""

    failure: Failure
    policy: Policy
    attempt: int = 0
    has_spec: bool = False


def question_from(raw: Mapping[str, Any], policies: Mapping[str, Policy]) -> Question:
    """Raises InvalidFieldsError naming every field that is wrong."""
    fields = Fields(raw, known=_FIELDS)
    for name in ("policy", "message"):
        if not fields.has(name):
            fields.refuse(name, "is required")
    evidence = {
        "type": fields.read("type", text(200), None),
        "code": fields.read("code", text(200), None),
        "status": fields.read("status", whole_number(100, 599), None),
        "retry_after": fields.read("retry_after", _seconds, None),
    }
    message = fields.read("message", _message, "")
    policy = fields.read("policy", one_of(policies), "")
    attempt = fields.read("attempt", whole_number(0, MOST_ATTEMPTS), 0)
    has_spec = bool(fields.read("spec", _yes_or_no, False))
    fields.check()
    return Question(Failure.of(message, **evidence), policies[policy], attempt, has_spec)


def explained(question: Question, *, now: datetime) -> dict[str, Any]:
    """For a subject that has failed as often as the task has."""
    policy, attempt = question.policy, question.attempt
    diagnosis = diagnose(question.failure, policy)
    situation = Situation(
        retry_count=attempt,
        max_retries=policy.max_retries,
        failed_at=now,
        budget_resets_at=next_reset(now),
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
