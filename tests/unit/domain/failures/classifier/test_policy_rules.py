"""The rules of the builtin policies, checked with their own examples."""

from __future__ import annotations

import pytest
from duecourse.adapters.runtime.policy_files import read_policies
from duecourse.domain.failures.classifier.engine import diagnose, find_rule
from duecourse.domain.failures.classifier.rule import CERTAIN, Rule
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.policy_loader import find_wrong_examples
from duecourse.domain.tasks.failure_kind import Kind

POLICIES = read_policies()
OWN_RULES = [
    pytest.param(name, rule, id=f"{name}-{rule.id}")
    for name in ("agent", "enrichment")
    for rule in POLICIES[name].rules
]


@pytest.mark.parametrize(("policy", "rule"), OWN_RULES)
def test_every_example_is_decided_by_its_own_rule(policy: str, rule: Rule) -> None:
    assert rule.examples
    for example in rule.examples:
        assert find_rule(example, POLICIES[policy]) is rule
        diagnosis = diagnose(example, POLICIES[policy])
        decided = diagnosis.likely or diagnosis
        assert (diagnosis.pattern, decided.category) == (rule.id, rule.category)


def test_builtin_policies_have_no_wrong_examples() -> None:
    assert [find_wrong_examples(POLICIES[name]) for name in ("agent", "enrichment", "omega")] == [
        *([], [], [])
    ]


def test_standard_reads_the_examples_of_agent_and_enrichment_alike() -> None:
    def kinds_by(policy: str, examples: list[Failure]) -> list[Kind]:
        return [diagnose(example, POLICIES[policy]).kind for example in examples]

    for name in ("agent", "enrichment"):
        examples = [one for rule in POLICIES[name].rules for one in rule.examples]
        pairs = zip(kinds_by(name, examples), kinds_by("standard", examples), strict=True)
        # Where both policies word a failure alike, the rules of `agent` come first.
        other = [own for own, by_standard in pairs if own is not by_standard]
        assert len(other) / len(examples) < {"agent": 0.03, "enrichment": 0.15}[name]


def test_standard_has_every_kind_once() -> None:
    kinds = [kind for one in POLICIES["standard"].categories.values() for kind in one.kinds]
    assert sorted(kinds) == sorted(Kind)


def test_omega_has_the_rules_of_agent_and_recipient_gone() -> None:
    own, *inherited = POLICIES["omega"].rules
    assert (own.id, set(own.codes)) == ("recipient-gone", {"recipientgone"})
    assert tuple(inherited) == POLICIES["agent"].rules


def test_only_fallback_rules_have_low_confidence() -> None:
    policies = [policy for name, policy in POLICIES.items() if name != "standard"]
    rules = [(policy, rule) for policy in policies for rule in policy.rules]
    specific: list[Rule] = []
    fallback: list[Rule] = []
    for policy, rule in rules:
        (fallback if rule.category == policy.fallback else specific).append(rule)
    assert [rule.id for rule in specific if rule.confidence < 0.6] == []
    assert [rule.id for rule in fallback if 0.5 < rule.confidence < CERTAIN] == []
    assert min(len(specific), len(fallback)) > 1
