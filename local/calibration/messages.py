"""Labelled messages of tests/corpus, and what the rules of a policy answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from duecourse.domain.failures.classifier.answer import RuleMatch
from duecourse.domain.failures.classifier.confidence_table import UNKNOWN, group_of_rule
from duecourse.domain.failures.classifier.engine import find_match
from duecourse.domain.failures.classifier.evidence import collect_evidence
from duecourse.domain.failures.classifier.rule import CERTAIN
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.policy import Policy

CORPUS = Path(__file__).parents[2] / "tests" / "corpus"
# The row's key for the category in a policy. The rules of these policies are measured.
LABEL_BY_POLICY = {"agent": "agent", "enrichment": "provider"}


@dataclass(frozen=True, slots=True)
class LabelledMessage:
    """A row of a corpus file. `row` has the labels."""

    row: Mapping[str, Any]
    failure: Failure

    @property
    def ecosystem(self) -> str:
        return str(self.row["ecosystem"])

    def is_right(self, category: str, label: str) -> bool:
        """Return whether the category is that of the label, or can be defended."""
        return category in (self.row[label], *self.row["also_ok"][label])


@dataclass(frozen=True, slots=True)
class RuleAnswer:
    """A labelled message, and what the rules of a policy say."""

    message: LabelledMessage
    policy: Policy
    match: RuleMatch | None

    @property
    def group(self) -> str:
        if self.match is None:
            return UNKNOWN
        return group_of_rule(self.match.rule, is_disputed=self.match.is_disputed)

    @property
    def is_right(self) -> bool:
        category = self.match.rule.category if self.match else self.policy.fallback
        return self.message.is_right(category, LABEL_BY_POLICY[self.policy.name])


def read_messages(name: str) -> list[LabelledMessage]:
    lines = (CORPUS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [LabelledMessage(row, _build_failure(row)) for row in map(json.loads, lines)]


def _build_failure(row: Mapping[str, Any]) -> Failure:
    return Failure.create(
        row["message"], **{name: row[name] for name in ("type", "code", "status")}
    )


def measured_policies(policies: Mapping[str, Policy]) -> Sequence[Policy]:
    return [policies[name] for name in LABEL_BY_POLICY]


def answer_messages(
    messages: Sequence[LabelledMessage], policies: Sequence[Policy]
) -> list[RuleAnswer]:
    """Return the answers to measure: all but those that are certain."""
    answers = (
        RuleAnswer(message, policy, find_match(collect_evidence(message.failure), policy))
        for message in messages
        for policy in policies
        if message.row[LABEL_BY_POLICY[policy.name]]
    )
    return [one for one in answers if one.match is None or one.match.rule.confidence < CERTAIN]
