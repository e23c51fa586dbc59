"""What the rules answer, and how certain that is."""

from __future__ import annotations

from dataclasses import dataclass, replace

from duecourse.domain.failures.classifier.confidence_table import UNKNOWN, group_of_rule
from duecourse.domain.failures.classifier.rule import Rule
from duecourse.domain.failures.diagnosis import UNKNOWN_PATTERN, Diagnosis
from duecourse.domain.failures.policy import Policy
from duecourse.domain.tasks.failure_kind import Kind
from duecourse.domain.tasks.run_diagnosis import Guess

UNKNOWN_CONFIDENCE = 0.3
# Lines of the log around the error are weaker evidence.
LOG_CONFIDENCE_FACTOR = 0.8


@dataclass(frozen=True, slots=True)
class RuleMatch:
    """The first rule that matches.

    `is_log_line`: only the lines around the error say so. `is_disputed`: another rule matches too,
    and names another category.
    """

    rule: Rule
    is_log_line: bool
    is_disputed: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """A category and a kind, before they are compared with the threshold of the policy."""

    category: str
    kind: Kind
    confidence: float
    pattern: str
    fix: str
    blames_subject: bool = True

    def to_diagnosis(self, policy: Policy) -> Diagnosis:
        """Return the diagnosis, with the answer as a guess if it is below the threshold."""
        diagnosis = Diagnosis(
            category=self.category,
            kind=self.kind,
            confidence=round(self.confidence, 2),
            pattern=self.pattern,
            fix=self.fix,
            blames_subject=self.blames_subject,
        )
        is_known = self.pattern != UNKNOWN_PATTERN
        if not is_known or diagnosis.confidence >= policy.min_confidence:
            return diagnosis
        return replace(
            diagnosis,
            category=policy.fallback,
            kind=Kind.UNKNOWN,
            likely=Guess(self.category, self.kind),
            fix=policy.fallback_category.fix,
        )


def answer_by_rule(match: RuleMatch, policy: Policy) -> Answer:
    rule = match.rule
    return Answer(
        category=rule.category,
        kind=rule.kind or Kind.UNKNOWN,
        confidence=_confidence(match, policy),
        pattern=rule.id,
        fix=rule.fix or policy.categories[rule.category].fix,
        blames_subject=rule.blames_subject,
    )


def answer_unknown(policy: Policy) -> Answer:
    """Return the answer if no rule matches."""
    table = policy.confidence_table
    return Answer(
        category=policy.fallback,
        kind=Kind.UNKNOWN,
        confidence=table.shares[UNKNOWN] if table else UNKNOWN_CONFIDENCE,
        pattern=UNKNOWN_PATTERN,
        fix=policy.fallback_category.fix,
    )


def _confidence(match: RuleMatch, policy: Policy) -> float:
    rule, table = match.rule, policy.confidence_table
    if table and rule.is_measured:
        group = group_of_rule(rule, is_disputed=match.is_disputed)
        return table.shares[group]
    if not match.is_log_line:
        return rule.confidence
    # A rule that states enough must not fall below the threshold by a factor that it cannot know.
    floor = min(rule.confidence, policy.min_confidence)
    return max(rule.confidence * LOG_CONFIDENCE_FACTOR, floor)
