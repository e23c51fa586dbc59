"""The rules of the builtin policies, checked with their own examples."""

from __future__ import annotations

import pytest
from duecourse.adapters.runtime.policy_files import read_policies
from duecourse.domain.failures.classifier.engine import diagnose
from duecourse.domain.failures.classifier.rule import Rule
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
        diagnosis = diagnose(example, POLICIES[policy])
        assert (diagnosis.pattern, diagnosis.category) == (rule.id, rule.category)


def test_builtin_policies_have_no_wrong_examples() -> None:
    assert [find_wrong_examples(POLICIES[name]) for name in ("agent", "enrichment", "omega")] == [
        *([], [], [])
    ]


def test_standard_reads_the_examples_of_agent_and_enrichment_alike() -> None:
    # Where both word a failure alike, the rules of `agent` come first.
    rules = (*POLICIES["agent"].rules, *POLICIES["enrichment"].rules)
    examples = [(rule.kind, example) for rule in rules for example in rule.examples]
    other = [kind for kind, one in examples if diagnose(one, POLICIES["standard"]).kind is not kind]
    assert len(other) / len(examples) < 0.05


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
    assert [rule.id for rule in fallback if rule.confidence > 0.5] == []
    assert min(len(specific), len(fallback)) > 1
