from __future__ import annotations

import pytest
from duecourse.adapters.runtime.policy_files import read_policies
from duecourse.domain.failures.classifier.engine import diagnose
from duecourse.domain.failures.classifier.rule import Rule
from duecourse.domain.failures.policy_loader import find_wrong_examples

POLICIES = read_policies()
OWN = [
    pytest.param(name, rule, id=f"{name}-{rule.id}")
    for name in ("agent", "enrichment")
    for rule in POLICIES[name].rules
]


@pytest.mark.parametrize(("policy", "rule"), OWN)
def test_every_example_is_decided_by_its_own_rule(policy: str, rule: Rule) -> None:
    assert rule.examples
    for example in rule.examples:
        found = diagnose(example, POLICIES[policy])
        assert (found.pattern, found.category) == (rule.id, rule.category)


def test_wrong_examples_finds_none_in_what_ships() -> None:
    assert [find_wrong_examples(policy) for policy in POLICIES.values()] == [[], [], []]


def test_omega_reads_errors_as_agent_does_but_for_somebody_who_is_gone() -> None:
    own, *taken = POLICIES["omega"].rules
    assert (own.id, set(own.codes)) == ("recipient-gone", {"recipientgone"})
    assert tuple(taken) == POLICIES["agent"].rules


def test_what_is_known_is_said_with_confidence() -> None:
    rules = [(policy, rule) for policy in POLICIES.values() for rule in policy.rules]
    sure: list[Rule] = []
    unsure: list[Rule] = []
    for policy, rule in rules:
        (unsure if rule.category == policy.fallback else sure).append(rule)
    assert [rule.id for rule in sure if rule.confidence < 0.6] == []
    assert [rule.id for rule in unsure if rule.confidence > 0.5] == []
    assert min(len(sure), len(unsure)) > 1
