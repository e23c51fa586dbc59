"""A policy as people outside read it: what each category leads to, and the rules that find it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from duecourse.domain.failures.policy import Policy
from duecourse.domain.failures.policy_json import policy_to_json

from tests.support.builders.failures import builtin_policies

FIELDS = "name about limits max_retries jitter fallback ladder categories"
CATEGORY_FIELDS = """name counts limit delays_seconds until_budget_clears server_time_wins
subject_limit trips_breaker suggested_fix rules"""
POLICIES = [pytest.param(policy, id=name) for name, policy in builtin_policies().items()]


def category(policy: str, name: str) -> dict[str, Any]:
    shown = policy_to_json(builtin_policies()[policy])["categories"]
    [found] = [one for one in shown if one["name"] == name]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("policy", POLICIES)
def test_a_policy_is_shown_as_plain_json(policy: Policy) -> None:
    shown = policy_to_json(policy)
    assert json.loads(json.dumps(shown)) == shown


@pytest.mark.parametrize("policy", POLICIES)
def test_a_policy_is_shown_with_its_fields_in_order(policy: Policy) -> None:
    assert list(policy_to_json(policy)) == FIELDS.split()


@pytest.mark.parametrize("policy", POLICIES)
def test_every_category_is_shown_in_the_policys_own_order(policy: Policy) -> None:
    shown = policy_to_json(policy)["categories"]
    assert [one["name"] for one in shown] == list(policy.categories)
    assert {tuple(one) for one in shown} == {tuple(CATEGORY_FIELDS.split())}


@pytest.mark.parametrize("policy", POLICIES)
def test_every_rule_is_shown_once_under_its_category(policy: Policy) -> None:
    shown = policy_to_json(policy)["categories"]
    told = [(rule["id"], one["name"]) for one in shown for rule in one["rules"]]
    assert sorted(told) == sorted((rule.id, rule.category) for rule in policy.rules)


@pytest.mark.parametrize("policy", POLICIES)
def test_rules_are_shown_in_the_order_they_are_asked(policy: Policy) -> None:
    place = {rule.id: n for n, rule in enumerate(policy.rules)}
    for one in policy_to_json(policy)["categories"]:
        places = [place[rule["id"]] for rule in one["rules"]]
        assert places == sorted(places)


def test_a_rule_is_shown_by_what_it_looks_for() -> None:
    shown = {rule["id"]: rule for rule in category("agent", "timeout")["rules"]}
    [rule] = [one for one in builtin_policies()["agent"].rules if one.id == "function-timeout"]
    assert shown["function-timeout"] == {
        "id": "function-timeout",
        "category": "timeout",
        "confidence": rule.confidence,
        "types": [],
        "codes": sorted(rule.codes),
        "statuses": [],
        "exits": [],
        "says": [],
    }


def test_the_head_of_a_policy_says_how_it_counts() -> None:
    shown = policy_to_json(builtin_policies()["agent"])
    assert (shown["name"], shown["limits"], shown["max_retries"], shown["jitter"]) == (
        *("agent", "retries", 5, 0.1),
    )


def test_a_ladder_is_shown_in_words() -> None:
    assert policy_to_json(builtin_policies()["agent"])["ladder"] == [
        "retry_with_guidance",
        "retry_with_guidance",
        "retry_with_spec_refresh",
        "escalate_to_human",
        "mark_as_blocked",
    ]


def test_a_policy_without_a_ladder_shows_none() -> None:
    assert policy_to_json(builtin_policies()["omega"])["ladder"] == []


def test_delays_are_shown_in_seconds() -> None:
    assert category("agent", "transient")["delays_seconds"] == [30, 120, 300, 600, 900]


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
def test_the_limits_of_a_category_are_shown(
    policy: str, name: str, limit: int | None, subject_limit: int | None, counts: bool
) -> None:
    shown = category(policy, name)
    assert (shown["limit"], shown["subject_limit"], shown["counts"]) == (
        *(limit, subject_limit, counts),
    )


def test_a_rate_limit_is_shown_to_leave_the_time_to_the_server() -> None:
    assert category("enrichment", "rate_limit")["server_time_wins"] is True
