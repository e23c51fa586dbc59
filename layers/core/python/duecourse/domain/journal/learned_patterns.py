"""Learned failure patterns: their counts, the results of their retries, and corrections.

A correction is the category and the kind that a person gave to a pattern.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from duecourse.domain.failures.diagnosis import LEARNED_PATTERN, Diagnosis
from duecourse.domain.failures.policy import Policy
from duecourse.domain.tasks.failure_kind import Kind, kind_to_json
from duecourse.domain.tasks.run import Run
from duecourse.domain.tasks.run_diagnosis import NOT_DIAGNOSED, Reading, RunDiagnosis
from duecourse.domain.tasks.task import Task
from duecourse.domain.text.redaction import truncate_middle
from duecourse.domain.time.instant import to_text, to_text_or_none

LEARNED_CONFIDENCE = 0.95
EXAMPLE_LIMIT = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class ObservedFailure:
    """One occurrence of a failure pattern. `rule_category`, `rule_kind`: by the rules alone."""

    policy: str
    fingerprint: str
    category: str
    rule_category: str
    kind: Kind | None = None
    rule_kind: Kind | None = None
    example: str
    observed_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Correction:
    """A person's correction of a failure pattern's category.

    `kind`: None in old records; then it is the category's. `corrected_by` is None if unknown.
    `rule_category` is the category the rules gave; old records lack it.
    """

    category: str
    kind: Kind | None = None
    corrected_at: datetime
    corrected_by: str | None = None
    rule_category: str | None = None

    def applies_to(self, category: str) -> bool:
        """Return True if the rules gave `category` when the correction was made."""
        return self.rule_category == category


@dataclass(frozen=True, kw_only=True, slots=True)
class LearnedPattern:
    """The statistics of one failure pattern. `category` and `kind` are of the latest failure.

    `retries_succeeded` counts those of `retries_attempted` that worked.
    """

    policy: str
    fingerprint: str
    category: str
    rule_category: str
    kind: Kind | None = None
    rule_kind: Kind | None = None
    example: str
    last_seen_at: datetime
    count: int = 0
    retries_attempted: int = 0
    retries_succeeded: int = 0
    correction: Correction | None = None


def observed_failure(policy: str, run: Run) -> ObservedFailure | None:
    """Return the observation, or None if the run has no fingerprint and teaches nothing."""
    note = run.diagnosis or NOT_DIAGNOSED
    if run.category is None or note.fingerprint is None:
        return None
    return ObservedFailure(
        policy=policy,
        fingerprint=note.fingerprint,
        category=run.category,
        rule_category=_rules_category(note) or run.category,
        kind=note.kind,
        rule_kind=note.read_as.kind if note.read_as else note.kind,
        example=truncate_middle(run.error or "", EXAMPLE_LIMIT),
        observed_at=run.ended_or_started_at,
    )


def counted_failure(
    policy: str, fingerprint: str, run: Run, former_detail: Mapping[str, Any] | None
) -> ObservedFailure | None:
    """Return the failure as it was counted for the pattern, or None if nothing tells it.

    A late report or a person may have corrected the run since; `former_detail` is what it told
    before.
    """
    observed = observed_failure(policy, run)
    if observed is not None and observed.fingerprint == fingerprint:
        return observed
    category = (former_detail or {}).get("category")
    if former_detail is None or category is None:
        return None
    kind = Kind.parse(former_detail.get("kind"))
    return ObservedFailure(
        policy=policy,
        fingerprint=fingerprint,
        category=category,
        rule_category=category,
        kind=kind,
        rule_kind=kind,
        example=truncate_middle(former_detail.get("error") or "", EXAMPLE_LIMIT),
        observed_at=run.ended_or_started_at,
    )


def find_correction(old: Task | None, run: Run, *, at: datetime) -> Correction | None:
    """Return the correction if this write reclassified a run that had failed before, else None."""
    note = run.diagnosis or NOT_DIAGNOSED
    before = old.run if old else None
    is_changed = before is not None and before.id == run.id and before.diagnosis != run.diagnosis
    if run.category is None or not (is_changed and note.is_corrected):
        return None
    return Correction(
        category=run.category,
        kind=note.kind,
        corrected_at=at,
        corrected_by=note.by,
        rule_category=_rules_category(note),
    )


@dataclass(frozen=True, slots=True)
class LearnedCorrection:
    """A correction to store, and the failure that a person corrected."""

    observed: ObservedFailure
    correction: Correction


def find_learned_correction(
    old: Task | None, new: Task, run: Run, *, at: datetime
) -> LearnedCorrection | None:
    """Return the correction if this write reclassified `run` and something can be learned."""
    correction, observed = find_correction(old, run, at=at), observed_failure(new.policy, run)
    return LearnedCorrection(observed, correction) if correction and observed else None


def _rules_category(diagnosis: RunDiagnosis) -> str | None:
    return diagnosis.read_as.category if diagnosis.read_as else None


def apply_correction(
    diagnosis: Diagnosis, correction: Correction | None, policy: Policy
) -> Diagnosis:
    """Return the diagnosis with the person's correction of its pattern, if it applies.

    It applies only if the rules still give the category that was corrected. It never changes
    whether the failure counts as a retry: otherwise a wait could have no end.
    """
    if correction is None or not _is_corrected(correction, diagnosis):
        return diagnosis
    category = policy.categories.get(correction.category)
    if category is None or not (category.counts and policy.categories[diagnosis.category].counts):
        return diagnosis
    return replace(
        diagnosis,
        category=category.name,
        kind=correction.kind or category.kind,
        likely=None,
        confidence=LEARNED_CONFIDENCE,
        pattern=LEARNED_PATTERN,
        fix=category.fix,
        location=None if category.is_external else diagnosis.location,
        rule_reading=_to_rule_reading(diagnosis),
    )


def _is_corrected(correction: Correction, diagnosis: Diagnosis) -> bool:
    """Return whether a person corrected the category, or the guess, which once was the category."""
    return correction.applies_to(diagnosis.category) or (
        diagnosis.likely is not None and correction.applies_to(diagnosis.likely.category)
    )


def _to_rule_reading(diagnosis: Diagnosis) -> Reading:
    return Reading(
        category=diagnosis.category,
        kind=diagnosis.kind,
        pattern=diagnosis.pattern,
        confidence=diagnosis.confidence,
        location=diagnosis.location,
    )


def pattern_to_json(pattern: LearnedPattern) -> dict[str, Any]:
    """Return the pattern as JSON.

    `category` and `kind` are what the next such failure gets if the rules read it like the latest.
    """
    correction = pattern.correction
    return {
        "policy": pattern.policy,
        "fingerprint": pattern.fingerprint,
        **_next_classification(pattern),
        "read_as": pattern.rule_category,
        "example": pattern.example,
        "count": pattern.count,
        "tried": pattern.retries_attempted,
        "worked": pattern.retries_succeeded,
        "success_percent": to_percent(pattern.retries_succeeded, pattern.retries_attempted),
        "last_seen": to_text(pattern.last_seen_at),
        "said_by_person": correction is not None,
        "said_by": correction.corrected_by if correction else None,
        "said_at": to_text_or_none(correction.corrected_at if correction else None),
    }


def _next_classification(pattern: LearnedPattern) -> dict[str, Any]:
    correction = pattern.correction
    if correction is None:
        return {"category": pattern.category, **kind_to_json(pattern.kind)}
    if correction.applies_to(pattern.rule_category):
        return {"category": correction.category, **kind_to_json(correction.kind)}
    return {"category": pattern.rule_category, **kind_to_json(pattern.rule_kind)}


def to_percent(part: int, whole: int) -> float | None:
    return round(100 * part / whole, 1) if whole else None


def recent_months(day: date) -> tuple[str, str]:
    """Return this month and the one before. Older retry results are ignored: things change."""
    before = date(day.year - (day.month == 1), (day.month - 2) % 12 + 1, 1)
    return f"{day:%Y-%m}", f"{before:%Y-%m}"
