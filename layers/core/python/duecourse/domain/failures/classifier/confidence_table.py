"""How far rules can be trusted, as measured on labelled messages.

`make calibrate` makes the table. A rule that is not in it keeps the confidence that it states.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from duecourse.domain.failures.classifier.rule import Rule, Tier

# Rules that state less take a single word, or any exception, for a sign of a category.
WEAK_BELOW = 0.7
WEAK = "weak"
DISPUTED = ", disputed"
UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True, slots=True)
class ConfidenceTable:
    """`shares`: of right answers, by group of rules, and of `UNKNOWN`, if no rule matches.

    `rules`: the ids of the measured rules by policy.
    """

    rules: Mapping[str, Collection[str]]
    shares: Mapping[str, float]

    @classmethod
    def from_text(cls, text: str) -> ConfidenceTable:
        """Read the stored form. Raises ValueError, KeyError or TypeError for anything else."""
        stored: Mapping[str, Any] = json.loads(text)
        return cls(
            rules={policy: frozenset(ids) for policy, ids in stored["rules"].items()},
            shares={name: group["share"] for name, group in stored["groups"].items()},
        )


def is_weak(rule: Rule, *, fallback: str) -> bool:
    """Return whether the rule is in doubt. `fallback`: the fallback category of its own policy."""
    # Rules of the fallback category state little because they decide nothing, not out of doubt.
    return rule.confidence < WEAK_BELOW and rule.category != fallback


def group_of_rule(rule: Rule, *, is_disputed: bool) -> str:
    """Return the group of a rule's answer."""
    if rule.is_weak:
        return WEAK
    # Too few rules are of the tier `text` to measure them apart.
    tier = Tier.VERDICT if rule.tier is Tier.TEXT else rule.tier
    # Rules of the last tier are only tried if no other rule matches.
    return f"{tier.name.lower()}{DISPUTED if is_disputed and tier is not Tier.LAST else ''}"
