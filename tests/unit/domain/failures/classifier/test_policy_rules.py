"""The rules of the builtin policies, checked with their own examples."""

from __future__ import annotations

import pytest
from duecourse.adapters.runtime.policy_files import read_policies
from duecourse.domain.failures.classifier.engine import diagnose, find_rule
from duecourse.domain.failures.classifier.rule import CERTAIN, Rule
from duecourse.domain.failures.policy_loader import find_wrong_examples

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
    assert [find_wrong_examples(policy) for policy in POLICIES.values()] == [[], [], []]


def test_omega_has_the_rules_of_agent_and_recipient_gone() -> None:
    own, *inherited = POLICIES["omega"].rules
    assert (own.id, set(own.codes)) == ("recipient-gone", {"recipientgone"})
    assert tuple(inherited) == POLICIES["agent"].rules


def test_only_fallback_rules_have_low_confidence() -> None:
    rules = [(policy, rule) for policy in POLICIES.values() for rule in policy.rules]
    specific: list[Rule] = []
    fallback: list[Rule] = []
    for policy, rule in rules:
        (fallback if rule.category == policy.fallback else specific).append(rule)
    assert [rule.id for rule in specific if rule.confidence < 0.6] == []
    assert [rule.id for rule in fallback if 0.5 < rule.confidence < CERTAIN] == []
    assert min(len(specific), len(fallback)) > 1
