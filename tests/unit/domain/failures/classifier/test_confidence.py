"""The confidence of a diagnosis: measured for shipped rules, stated for others, and a threshold."""

from __future__ import annotations

from dataclasses import replace

import pytest
from duecourse.domain.failures.classifier.engine import diagnose
from duecourse.domain.failures.diagnosis import Diagnosis
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.policy import Policy
from duecourse.domain.failures.policy_loader import load_policies
from duecourse.domain.tasks.failure_kind import Kind
from duecourse.domain.tasks.run_diagnosis import Guess

from tests.support.builders.failures import builtin_policies, share_of

POLICIES = builtin_policies()
OWN = """
about = "x"
limits = "runs"
max_retries = 3
fallback = "none"
[categories.none]
fix = "Read it."
[categories.calm]
fix = "Wait."
[categories.storm]
kinds = ["network"]
fix = "Hide."
[[rules]]
id = "sure"
category = "storm"
confidence = 0.8
says = "gale"
example = "gale"
[[rules]]
id = "doubtful"
category = "storm"
confidence = 0.79
says = "breeze"
blames_subject = false
example = "breeze"
"""
LOG = 'a gale blew\nTraceback (most recent call last):\n  File "a.py", line 1\nXError'


def own_policy(head: str = "") -> Policy:
    return load_policies({"own.toml": head + OWN})["own"]


def classify(message: str, policy: Policy, **evidence: object) -> Diagnosis:
    return diagnose(Failure.create(message, **evidence), policy)


# The threshold


def test_a_category_below_the_threshold_is_only_likely() -> None:
    diagnosis = classify("breeze", own_policy())
    assert (diagnosis.category, diagnosis.kind) == ("none", Kind.UNKNOWN)
    assert diagnosis.likely == Guess("storm", Kind.NETWORK)
    assert (diagnosis.pattern, diagnosis.confidence) == ("doubtful", 0.79)
    assert (diagnosis.fix, diagnosis.blames_subject) == ("Read it.", False)


def test_a_category_at_the_threshold_decides() -> None:
    diagnosis = classify("gale", own_policy())
    assert (diagnosis.category, diagnosis.kind, diagnosis.likely) == ("storm", Kind.NETWORK, None)


@pytest.mark.parametrize(("least", "category"), [(0.79, "storm"), (0.8, "none"), (0.0, "storm")])
def test_a_policy_sets_the_threshold(least: float, category: str) -> None:
    assert classify("breeze", own_policy(f"min_confidence = {least}\n")).category == category


def test_a_log_line_does_not_push_a_stated_confidence_below_the_threshold() -> None:
    diagnosis = classify(LOG, own_policy())
    assert (diagnosis.category, diagnosis.confidence) == ("storm", 0.8)
    assert classify(LOG, own_policy("min_confidence = 0.5\n")).confidence == 0.64


# What is measured


def test_the_confidence_of_a_shipped_rule_is_measured() -> None:
    assert classify("it broke", POLICIES["agent"], code="ECONNRESET").confidence == share_of(
        "structured"
    )


def test_inherited_rules_keep_their_measured_confidence() -> None:
    diagnosis = classify("it broke", POLICIES["omega"], code="ECONNRESET")
    assert diagnosis.confidence == share_of("structured")


@pytest.mark.parametrize(
    "code",
    [
        *("budget_exceeded", "recipient_gone", "worker_vanished", "not_attempted"),
        *("function_timeout", "function_throttled", "no_outcome"),
    ],
)
@pytest.mark.parametrize("name", ["agent", "enrichment", "omega"])
def test_our_own_codes_are_certain(name: str, code: str) -> None:
    if (name, code) == ("agent", "recipient_gone"):
        pytest.skip("only a reminder has a recipient that can be gone")
    policy = replace(POLICIES[name], min_confidence=1.0)
    diagnosis = classify("it broke", policy, code=code)
    assert (diagnosis.confidence, diagnosis.likely) == (1.0, None)


def test_no_threshold_changes_what_omega_decides() -> None:
    assert classify("RuntimeError: the tide is out", POLICIES["omega"]).likely is None
