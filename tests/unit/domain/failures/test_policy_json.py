"""The JSON of a policy: its limits, categories and rules."""

from __future__ import annotations

import json
from typing import Any

import pytest
from duecourse.domain.failures.policy import Policy
from duecourse.domain.failures.policy_json import policy_to_json

from tests.support.builders.failures import builtin_policies

FIELDS = (
    "name about limits max_retries jitter full_jitter fallback min_confidence ladder categories"
)
CATEGORY_FIELDS = """name kinds counts limit delays_seconds deadline_seconds at_limit
until_budget_clears server_time_wins subject_limit subject_delays_seconds trips_breaker
suggested_fix rules"""
POLICIES = [pytest.param(policy, id=name) for name, policy in builtin_policies().items()]


def category_json(policy: str, name: str) -> dict[str, Any]:
    categories = policy_to_json(builtin_policies()[policy])["categories"]
    [category] = [category for category in categories if category["name"] == name]
    assert isinstance(category, dict)
    return category


@pytest.mark.parametrize("policy", POLICIES)
def test_a_policy_is_plain_json(policy: Policy) -> None:
    data = policy_to_json(policy)
    assert json.loads(json.dumps(data)) == data


@pytest.mark.parametrize("policy", POLICIES)
def test_a_policy_lists_its_fields_in_order(policy: Policy) -> None:
    assert list(policy_to_json(policy)) == FIELDS.split()


@pytest.mark.parametrize("policy", POLICIES)
def test_categories_are_listed_in_the_policys_order(policy: Policy) -> None:
    data = policy_to_json(policy)["categories"]
    assert [category["name"] for category in data] == list(policy.categories)
    assert {tuple(category) for category in data} == {tuple(CATEGORY_FIELDS.split())}


@pytest.mark.parametrize("policy", POLICIES)
def test_every_rule_is_listed_once_under_its_category(policy: Policy) -> None:
    data = policy_to_json(policy)["categories"]
    rule_categories = [
        (rule["id"], category["name"]) for category in data for rule in category["rules"]
    ]
    assert sorted(rule_categories) == sorted((rule.id, rule.category) for rule in policy.rules)


@pytest.mark.parametrize("policy", POLICIES)
def test_rules_are_listed_in_the_order_of_evaluation(policy: Policy) -> None:
    for category in policy_to_json(policy)["categories"]:
        ids = [rule.id for rule in policy.rules if rule.category == category["name"]]
        assert [rule["id"] for rule in category["rules"]] == ids


def test_a_rule_lists_the_evidence_it_matches() -> None:
    rules = {rule["id"]: rule for rule in category_json("agent", "timeout")["rules"]}
    [rule] = [rule for rule in builtin_policies()["agent"].rules if rule.id == "function-timeout"]
    assert rules["function-timeout"] == {
        "id": "function-timeout",
        "category": "timeout",
        "kind": "timeout",
        "confidence": rule.confidence,
        "types": [],
        "codes": sorted(rule.codes),
        "statuses": [],
        "exits": [],
        "says": [],
    }


def test_a_policy_lists_its_limits_and_jitter() -> None:
    data = policy_to_json(builtin_policies()["agent"])
    assert (data["name"], data["limits"], data["max_retries"], data["jitter"]) == (
        *("agent", "retries", 5, 0.1),
    )


def test_a_ladder_is_listed_as_action_names() -> None:
    assert policy_to_json(builtin_policies()["agent"])["ladder"] == [
        "retry_with_guidance",
        "retry_with_guidance",
        "retry_with_spec_refresh",
        "escalate_to_human",
        "mark_as_blocked",
    ]


def test_a_policy_without_a_ladder_lists_none() -> None:
    assert policy_to_json(builtin_policies()["omega"])["ladder"] == []


def test_delays_are_listed_in_seconds() -> None:
    assert category_json("agent", "transient")["delays_seconds"] == [30, 120, 300, 600, 900]


@pytest.mark.parametrize(
    ("policy", "name", "limit", "subject_limit", "counts"),
    [
        ("omega", "timeout", None, None, True),
        ("agent", "timeout", 3, None, True),
        ("agent", "code_error", 5, None, True),
        ("enrichment", "json_parse", None, 3, True),
        ("enrichment", "content_policy", 1, 1, True),
        ("enrichment", "budget_exceeded", None, None, False),
    ],
)
def test_a_category_lists_its_limits(
    policy: str, name: str, limit: int | None, subject_limit: int | None, counts: bool
) -> None:
    data = category_json(policy, name)
    assert (data["limit"], data["subject_limit"], data["counts"]) == (
        *(limit, subject_limit, counts),
    )


def test_a_rate_limit_lists_that_the_server_time_wins() -> None:
    assert category_json("enrichment", "rate_limit")["server_time_wins"] is True
