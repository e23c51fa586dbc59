"""A code or a status that names one kind is never overruled by the words of the error."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from duecourse.adapters.runtime.policy_files import read_policies
from duecourse.domain.failures.classifier.engine import diagnose
from duecourse.domain.failures.classifier.phrase import SearchText
from duecourse.domain.failures.classifier.rule import Rule
from duecourse.domain.failures.failure import Failure
from duecourse.domain.tasks.failure_kind import Kind

POLICIES = read_policies()
REFUSALS = ("content policy", "usage policy", "safety system")
FIELD_RULES = [
    pytest.param(name, rule, id=f"{name}-{rule.id}")
    for name in ("agent", "enrichment")
    for rule in POLICIES[name].rules
    if rule.is_named_by_field
]


def fields_of(rule: Rule) -> Iterator[dict[str, Any]]:
    yield from ({"status": status} for status in sorted(rule.statuses))
    yield from ({"code": code} for code in sorted(rule.codes))


def texts_of_other_kinds(policy: str, rule: Rule) -> list[str]:
    texts = (
        f"the pilot says: {phrase.text.replace('#', '12').replace('*', 'quay')}"
        for other in POLICIES[policy].rules
        if other.is_words_only and other.kind not in {rule.kind, *rule.refined_by}
        for phrase in other.phrases
    )
    return [text for text in texts if not is_excluded(rule, text)]


def is_excluded(rule: Rule, text: str) -> bool:
    return any(phrase.is_in(SearchText(text)) for phrase in rule.excluded_phrases)


@pytest.mark.parametrize(("policy", "rule"), FIELD_RULES)
def test_words_of_another_kind_do_not_overrule_a_field(policy: str, rule: Rule) -> None:
    choice = random.Random(rule.id)  # noqa: S311 - a fixed choice of phrases
    texts = texts_of_other_kinds(policy, rule)
    for fields in fields_of(rule):
        kind = diagnose(Failure.create("it failed", **fields), POLICIES[policy]).kind
        for text in choice.sample(texts, min(len(texts), 40)):
            found = diagnose(Failure.create(text, **fields), POLICIES[policy])
            if found.pattern in has_both(policy):
                continue
            assert found.kind in {kind, *rule.refined_by}, (fields, text, found.pattern)


def has_both(policy: str) -> set[str]:
    """Return the rules that name a field and words, and so refine that field on purpose."""
    return {rule.id for rule in POLICIES[policy].rules if rule.phrases and not rule.is_words_only}


@pytest.mark.parametrize("policy", ["agent", "enrichment"])
@pytest.mark.parametrize("words", REFUSALS)
@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"status": 429, "code": "rate_limit_exceeded"}, Kind.RATE_LIMIT),
        ({"status": 429}, Kind.RATE_LIMIT),
        ({"status": 503}, Kind.SERVER_ERROR),
        ({"code": "ECONNRESET"}, Kind.NETWORK),
    ],
)
def test_a_mentioned_refusal_is_none(
    policy: str, words: str, fields: dict[str, Any], kind: Kind
) -> None:
    failure = Failure.create(f"Blocked for now: see our {words}.", **fields)
    assert diagnose(failure, POLICIES[policy]).kind is kind


@pytest.mark.parametrize("policy", ["agent", "enrichment"])
@pytest.mark.parametrize("words", REFUSALS)
def test_the_code_of_a_json_body_counts_as_a_field(policy: str, words: str) -> None:
    body = f'Error code: 429 - {{"error": {{"message": "{words}", "code": "rate_limit_exceeded"}}}}'
    assert diagnose(Failure.create(body), POLICIES[policy]).kind is Kind.RATE_LIMIT


@pytest.mark.parametrize(
    ("message", "fields", "kind"),
    [
        ("blocked by our content policy", {"status": 400}, Kind.CONTENT_POLICY),
        ("blocked by our content policy", {"status": 403}, Kind.CONTENT_POLICY),
        ("your credit balance is too low", {"status": 429}, Kind.QUOTA),
        ("the account is empty", {"status": 429, "code": "insufficient_quota"}, Kind.QUOTA),
        ("this model's maximum context length is 8192 tokens", {"status": 400}, Kind.TOKEN_LIMIT),
    ],
)
def test_words_refine_a_generic_field(message: str, fields: dict[str, Any], kind: Kind) -> None:
    assert diagnose(Failure.create(message, **fields), POLICIES["enrichment"]).kind is kind


@pytest.mark.parametrize("policy", ["agent", "enrichment", "omega"])
@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"status": 400}, Kind.INVALID_REQUEST),
        ({"status": 401}, Kind.AUTH),
        ({"status": 402}, Kind.QUOTA),
        ({"status": 403}, Kind.PERMISSION),
        ({"status": 404}, Kind.NOT_FOUND),
        ({"status": 409}, Kind.CONFLICT),
        ({"status": 422}, Kind.INVALID_REQUEST),
        ({"status": 429}, Kind.RATE_LIMIT),
        ({"status": 500}, Kind.SERVER_ERROR),
        ({"code": "EACCES"}, Kind.PERMISSION),
        ({"code": "insufficient_quota"}, Kind.QUOTA),
        ({"code": "CERT_HAS_EXPIRED"}, Kind.CONFIG),
    ],
)
def test_each_status_and_code_has_its_kind_in_all_policies(
    policy: str, fields: dict[str, Any], kind: Kind
) -> None:
    assert diagnose(Failure.create("it failed", **fields), POLICIES[policy]).kind is kind
