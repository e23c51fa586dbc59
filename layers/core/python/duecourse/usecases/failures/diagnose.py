"""Diagnose a failure by the policy's rules and by what was learned from earlier failures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime

from duecourse.domain.failures.adaptive_backoff import RetryOutcomesByDelay
from duecourse.domain.failures.classifier.answer import answer_unknown
from duecourse.domain.failures.classifier.engine import diagnose
from duecourse.domain.failures.classifier.fingerprint import fingerprint_of
from duecourse.domain.failures.diagnosis import Diagnosis
from duecourse.domain.failures.failure_report import FailureReport
from duecourse.domain.failures.policy import Policy
from duecourse.domain.journal.learned_patterns import apply_correction
from duecourse.domain.origin import Origin
from duecourse.domain.tasks.task import Task
from duecourse.ports.journal import Patterns


@dataclass(frozen=True)
class LearningDeps:
    """Learned patterns, and whether retry delays adapt to them.

    `on_read_error` is called if they cannot be read; then the rules alone decide.
    """

    patterns: Patterns
    has_adaptive_delays: bool
    on_read_error: Callable[[Exception], None]


@dataclass(frozen=True)
class LearnedDiagnosis:
    diagnosis: Diagnosis
    retry_outcomes: RetryOutcomesByDelay = field(default_factory=dict)


def diagnose_with_learning(
    task: Task, report: FailureReport, policy: Policy, learning: LearningDeps, *, now: datetime
) -> LearnedDiagnosis:
    """Return the diagnosis and the outcomes of earlier retries. Never raises.

    If what was learned cannot be read, the diagnosis comes from the rules alone.
    """
    by_rules = _diagnose_by_rules(report, policy)
    if report.origin.is_learnable:
        by_rules = replace(by_rules, fingerprint=fingerprint_of(report.failure))
    try:
        diagnosis = _apply_learned(by_rules, task, policy, learning, now=now)
        return LearnedDiagnosis(
            diagnosis, _load_retry_outcomes(task, diagnosis.category, learning, now=now)
        )
    except Exception as error:  # noqa: BLE001 - whatever keeps it from being read
        learning.on_read_error(error)
        return LearnedDiagnosis(by_rules)


def _diagnose_by_rules(report: FailureReport, policy: Policy) -> Diagnosis:
    """Return the diagnosis of the policy's rules.

    Rejected work is done again, so the words of a rejection never give a category without retries.
    """
    diagnosis = diagnose(report.failure, policy)
    is_rejected = report.origin is Origin.REJECTED
    if not (is_rejected and policy.categories[diagnosis.category].limit == 0):
        return diagnosis
    return answer_unknown(policy).to_diagnosis(policy)


def read_retry_outcomes(
    task: Task, category: str, learning: LearningDeps, *, now: datetime
) -> RetryOutcomesByDelay:
    """Return earlier retry outcomes by delay; empty if they cannot be read. Never raises."""
    try:
        return _load_retry_outcomes(task, category, learning, now=now)
    except Exception as error:  # noqa: BLE001 - whatever keeps it from being read
        learning.on_read_error(error)
        return {}


def _apply_learned(
    diagnosis: Diagnosis, task: Task, policy: Policy, learning: LearningDeps, *, now: datetime
) -> Diagnosis:
    if diagnosis.fingerprint is None:
        return diagnosis
    return apply_correction(
        diagnosis,
        learning.patterns.find_correction(task.policy, diagnosis.fingerprint, now=now),
        policy,
    )


def _load_retry_outcomes(
    task: Task, category: str, learning: LearningDeps, *, now: datetime
) -> RetryOutcomesByDelay:
    return (
        learning.patterns.get_retry_outcomes(task.policy, category, now=now)
        if learning.has_adaptive_delays
        else {}
    )
