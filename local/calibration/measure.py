"""Measure how often answers are right, by group, on messages that no rule was written for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from duecourse.domain.failures.classifier.confidence_table import DISPUTED, UNKNOWN, WEAK
from duecourse.domain.failures.classifier.rule import CERTAIN, Tier
from duecourse.domain.failures.policy import Policy

from local.calibration.messages import RuleAnswer, answer_messages, measured_policies, read_messages

CALIBRATION = "calibration"
_TIERS = [tier.name.lower() for tier in (Tier.OVERRULING, Tier.STRUCTURED, Tier.VERDICT)]
RULE_GROUPS = [
    *(f"{tier}{dispute}" for tier in _TIERS for dispute in ("", DISPUTED)),
    Tier.LAST.name.lower(),
    WEAK,
]
# As if so many more answers had been seen in each group, right as often as those of all rules, and
# half the time if no rule matches. So a few right answers are not taken for certain.
PRIOR_ANSWERS = 4
UNKNOWN_PRIOR = 0.5
MAX_SHARE = 0.99


def measure(policies: Mapping[str, Policy]) -> str:
    """Return the text of confidence.json. The same messages and rules give the same."""
    measured = measured_policies(policies)
    table = build_table(answer_messages(read_messages(CALIBRATION), measured), measured)
    return json.dumps({"about": "Made by `make calibrate`. Do not edit.", **table}, indent=1) + "\n"


def build_table(answers: Sequence[RuleAnswer], policies: Sequence[Policy]) -> dict[str, Any]:
    """Return the shares of right answers by group, and the rules for which they stand."""
    by_rules = [one.is_right for one in answers if one.match]
    prior = sum(by_rules) / len(by_rules)
    priors = {**dict.fromkeys(RULE_GROUPS, prior), UNKNOWN: UNKNOWN_PRIOR}
    groups = {
        name: _measure_group([one.is_right for one in answers if one.group == name], group_prior)
        for name, group_prior in priors.items()
    }
    rules = {
        policy.name: [rule.id for rule in policy.rules if rule.confidence < CERTAIN]
        for policy in policies
    }
    return {"groups": groups, "rules": rules}


def _measure_group(are_right: Sequence[bool], prior: float) -> dict[str, Any]:
    right, count = sum(are_right), len(are_right)
    share = (right + PRIOR_ANSWERS * prior) / (count + PRIOR_ANSWERS)
    return {"right": right, "of": count, "share": min(MAX_SHARE, round(share, 2))}
