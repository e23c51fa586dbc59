"""What a rule of the bus can match: never less than EventBridge says."""

from __future__ import annotations

import json
from typing import Any

import pytest
from duecourse.domain.events.rule_patterns import EVERYTHING, MatchableTypes, matchable_types

FAILED = MatchableTypes(frozenset({"task:failed"}))
NOTHING = MatchableTypes(frozenset())


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ({"detail-type": ["task:failed"]}, FAILED),
        ({"source": ["duecourse"], "detail-type": ["task:failed"]}, FAILED),
        ({"source": ["other", "duecourse"], "detail-type": ["task:failed"]}, FAILED),
        ({"detail-type": ["task:failed"], "detail": {"detail": {"category": ["x"]}}}, FAILED),
        ({"source": ["other"]}, NOTHING),
        ({"source": []}, NOTHING),
        ({"detail-type": []}, NOTHING),
        ({"source": ["duecourse"]}, EVERYTHING),
        ({}, EVERYTHING),
        ({"account": ["123"]}, EVERYTHING),
        ({"detail-type": [{"prefix": "task:"}]}, EVERYTHING),
        ({"detail-type": ["task:failed", {"prefix": "breaker:"}]}, EVERYTHING),
        ({"source": [{"prefix": "due"}]}, EVERYTHING),
        ({"source": [{"anything-but": ["x"]}], "detail-type": ["task:failed"]}, FAILED),
        ({"$or": [{"source": ["duecourse"]}, {"source": ["other"]}]}, EVERYTHING),
        ({"detail-type": "task:failed"}, EVERYTHING),
        (["source"], EVERYTHING),
        (None, EVERYTHING),
    ],
    ids=str,
)
def test_only_plain_lists_of_strings_limit_what_a_rule_matches(
    pattern: Any, expected: MatchableTypes
) -> None:
    assert matchable_types([json.dumps(pattern)]) == expected


@pytest.mark.parametrize("pattern", [None, "", "{", "[" * 100_000])
def test_a_pattern_that_cannot_be_read_matches_everything(pattern: str | None) -> None:
    assert matchable_types([pattern]) == EVERYTHING


def test_the_types_of_several_rules_are_joined() -> None:
    patterns = [json.dumps({"detail-type": [name]}) for name in ("task:failed", "task:created")]
    found = matchable_types(patterns)
    assert [found.includes(name) for name in ("task:failed", "task:created", "task:started")] == [
        *(True, True, False),
    ]
    assert matchable_types([*patterns, "{}"]) == EVERYTHING
    assert matchable_types([]) == NOTHING
