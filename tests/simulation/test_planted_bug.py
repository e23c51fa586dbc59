"""A planted bug is found, and its plan is shrunk. `make simulate-mutants` does so for all bugs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from local.simulate.find_mutants import Search, run_worker, search_for

FAST_MUTANT = "retry-not-numbered"  # the first seed finds it
MAX_OPERATIONS = 2
MAX_STORY = 40


@pytest.fixture(scope="module")
def violation() -> dict[str, Any]:
    [report] = run_worker("--mutant", FAST_MUTANT, "--last", "1")
    found: dict[str, Any] = report["violation"]
    return found


def test_a_planted_bug_is_found_and_its_plan_is_short(violation: dict[str, Any]) -> None:
    assert violation["invariants"] == ["runs are linked and numbered"]
    assert 1 <= len(violation["plan"]["operations"]) <= MAX_OPERATIONS
    assert (violation["plan"]["faults"], violation["plan"]["waits"]) == ({}, {})
    assert all(one["at"] == int(one["at"]) for one in violation["plan"]["operations"])


def test_the_story_is_short_and_tells_the_operation_the_runs_and_the_violation(
    violation: dict[str, Any],
) -> None:
    story = violation["story"]
    assert len(story) < MAX_STORY
    assert re.fullmatch(r"12:0\d:\d\d\.000  operation     create-\S+ .*", story[0])
    assert any("task 1: pending → in_progress, run" in line for line in story)
    assert story[-1].startswith("VIOLATED  runs are linked and numbered: task 1")


def test_a_replay_violates_the_same_invariant(violation: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(violation["plan"]))
    [report] = run_worker("--mutant", FAST_MUTANT, "--replay", str(path), "--until-violation")

    assert report["violation"]["invariants"] == violation["invariants"]
    assert report["violation"]["plan"] == violation["plan"]


def test_a_search_names_the_seeds_and_the_invariants() -> None:
    expected = Search(FAST_MUTANT, 1, ("runs are linked and numbered",))
    assert search_for(FAST_MUTANT, seeds=3) == expected


def test_without_the_bug_the_same_seed_violates_nothing() -> None:
    [report] = run_worker("--last", "1")
    assert report["violation"] is None
