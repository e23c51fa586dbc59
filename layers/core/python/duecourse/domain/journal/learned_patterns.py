"""What failures teach: how often a kind of failure came, what retries did about it, and what a
person said that it really is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from duecourse.domain.failures.diagnosis import LEARNED_PATTERN, Diagnosis
from duecourse.domain.failures.policy import Policy
from duecourse.domain.tasks.run import Run
from duecourse.domain.tasks.run_diagnosis import NOT_DIAGNOSED, Reading, RunDiagnosis
from duecourse.domain.tasks.task import Task
from duecourse.domain.text.redaction import truncate_middle
from duecourse.domain.time.instant import to_text, to_text_or_none

LEARNED_CONFIDENCE = 0.95
EXAMPLE_LIMIT = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class ObservedFailure:
    """A failure of some kind was seen. `read_as` is its category by the rules."""

    policy: str
    fingerprint: str
    category: str
    rule_category: str
    example: str
    observed_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Correction:
    """What a person said that a kind of failure is. `by` is who, where that is known; `read_as`
    how the rules had read it, which in old records is missing."""

    category: str
    corrected_at: datetime
    corrected_by: str | None = None
    rule_category: str | None = None

    def applies_to(self, category: str) -> bool:
        """Of a failure that the rules read otherwise, this was not said."""
        return self.rule_category == category


@dataclass(frozen=True, kw_only=True, slots=True)
class LearnedPattern:
    """`category` is that of the latest failure. Of the retries after one, so many were tried and
    so many of those worked."""

    policy: str
    fingerprint: str
    category: str
    rule_category: str
    example: str
    last_seen_at: datetime
    count: int = 0
    retries_attempted: int = 0
    retries_succeeded: int = 0
    correction: Correction | None = None


def observed_failure(task: Task, run: Run) -> ObservedFailure | None:
    """None of a run that has no fingerprint: it teaches nothing."""
    note = run.diagnosis or NOT_DIAGNOSED
    if run.category is None or note.fingerprint is None:
        return None
    return ObservedFailure(
        policy=task.policy,
        fingerprint=note.fingerprint,
        category=run.category,
        rule_category=_rules_category(note) or run.category,
        example=truncate_middle(run.error or "", EXAMPLE_LIMIT),
        observed_at=run.ended_at or run.started_at,
    )


def find_correction(old: Task | None, run: Run, *, at: datetime) -> Correction | None:
    """What a person has just said of a run that had failed before."""
    note = run.diagnosis or NOT_DIAGNOSED
    before = old.run if old else None
    is_news = before is not None and before.id == run.id and before.diagnosis != run.diagnosis
    if run.category is None or not (is_news and note.is_corrected):
        return None
    return Correction(
        category=run.category,
        corrected_at=at,
        corrected_by=note.by,
        rule_category=_rules_category(note),
    )


def _rules_category(diagnosis: RunDiagnosis) -> str | None:
    return diagnosis.read_as.category if diagnosis.read_as else None


def apply_correction(
    diagnosis: Diagnosis, pattern: LearnedPattern | None, policy: Policy
) -> Diagnosis:
    """As a person said before of this kind of failure, where the rules read it as they did then;
    as they read it where nobody did.

    A wait that costs no retry is neither taken away nor given: it would have no end.
    """
    said = pattern.correction if pattern else None
    is_meant = said is not None and said.applies_to(diagnosis.category)
    category = policy.categories.get(said.category) if said and is_meant else None
    if category is None or not (category.counts and policy.categories[diagnosis.category].counts):
        return diagnosis
    return replace(
        diagnosis,
        category=category.name,
        confidence=LEARNED_CONFIDENCE,
        pattern=LEARNED_PATTERN,
        fix=category.fix,
        location=None if category.is_external else diagnosis.location,
        rule_reading=_to_rule_reading(diagnosis),
    )


def _to_rule_reading(diagnosis: Diagnosis) -> Reading:
    return Reading(
        category=diagnosis.category,
        pattern=diagnosis.pattern,
        confidence=diagnosis.confidence,
        location=diagnosis.location,
    )


def pattern_to_json(pattern: LearnedPattern) -> dict[str, Any]:
    """`category` is the one that the next such failure will have, if the rules read it as the
    latest."""
    said = pattern.correction
    return {
        "policy": pattern.policy,
        "fingerprint": pattern.fingerprint,
        "category": _next_category(pattern),
        "read_as": pattern.rule_category,
        "example": pattern.example,
        "count": pattern.count,
        "tried": pattern.retries_attempted,
        "worked": pattern.retries_succeeded,
        "success_percent": to_percent(pattern.retries_succeeded, pattern.retries_attempted),
        "last_seen": to_text(pattern.last_seen_at),
        "said_by_person": said is not None,
        "said_by": said.corrected_by if said else None,
        "said_at": to_text_or_none(said.corrected_at if said else None),
    }


def _next_category(pattern: LearnedPattern) -> str:
    said = pattern.correction
    if said is None:
        return pattern.category
    return said.category if said.applies_to(pattern.rule_category) else pattern.rule_category


def to_percent(part: int, whole: int) -> float | None:
    return round(100 * part / whole, 1) if whole else None


def recent_months(day: date) -> tuple[str, str]:
    """This one and the one before: what worked long ago need not work today."""
    before = date(day.year - (day.month == 1), (day.month - 2) % 12 + 1, 1)
    return f"{day:%Y-%m}", f"{before:%Y-%m}"
