"""Policies as JSON, for the HTTP API."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from duecourse.domain.failures.classifier.rule import Rule
from duecourse.domain.failures.policy import Category, Policy


def policy_to_json(policy: Policy) -> dict[str, Any]:
    rules = [_rule_to_json(rule) for rule in policy.rules]
    return {
        "name": policy.name,
        "about": policy.about,
        "limits": str(policy.limit_unit),
        "max_retries": policy.max_retries,
        "jitter": policy.jitter,
        "full_jitter": policy.has_full_jitter,
        "fallback": policy.fallback,
        "min_confidence": policy.min_confidence,
        "ladder": [str(action) for action in policy.ladder],
        "categories": [_category_to_json(one, rules) for one in policy.categories.values()],
    }


def _category_to_json(category: Category, rules: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "name": category.name,
        "kinds": [str(kind) for kind in category.kinds],
        "counts": category.counts,
        "limit": category.limit,
        "delays_seconds": [_seconds(delay) for delay in category.delays],
        "deadline_seconds": _seconds(category.deadline),
        "at_limit": str(category.at_limit) if category.at_limit else None,
        "until_budget_clears": category.until_budget_clears,
        "server_time_wins": category.server_time_wins,
        "subject_limit": category.subject_limit,
        "subject_delays_seconds": [_seconds(delay) for delay in category.subject_delays],
        "trips_breaker": category.trips_breaker,
        "suggested_fix": category.fix,
        "rules": [rule for rule in rules if rule["category"] == category.name],
    }


def _rule_to_json(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "category": rule.category,
        "kind": str(rule.kind) if rule.kind else None,
        "confidence": rule.confidence,
        "types": sorted(rule.types),
        "codes": sorted(rule.codes),
        "statuses": sorted(rule.statuses),
        "exits": sorted(rule.exit_codes),
        "says": [phrase.text for phrase in rule.phrases],
    }


def _seconds(duration: timedelta | None) -> int | None:
    return round(duration.total_seconds()) if duration is not None else None
