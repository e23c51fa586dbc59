"""A planted bug is found, and its plan is shrunk. `make simulate-mutants` does so for all bugs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from local.simulate import find_mutants
from local.simulate.find_mutants import Search, run_worker, search_for
from local.simulate.saved_plan import plan_from_text
from local.simulate.simulation import simulate

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
    assert len(violation["plan"]["faults"]) <= 1
    assert violation["plan"]["waits"] == {}
    assert all(one["at"] == int(one["at"]) for one in violation["plan"]["operations"])


def test_the_story_is_short_and_tells_the_operation_the_runs_and_the_violation(
    violation: dict[str, Any],
) -> None:
    story = violation["story"]
    assert len(story) < MAX_STORY
    assert re.fullmatch(r"02-17 12:0\d:\d\d\.000  operation     create-\S+ .*", story[0])
    assert any(re.search(r"task \d: pending → in_progress, run", line) for line in story)
    assert re.match(r"VIOLATED  runs are linked and numbered: task \d", story[-1])


def test_a_replay_violates_the_same_invariant(violation: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(violation["plan"]))
    [report] = run_worker("--mutant", FAST_MUTANT, "--replay", str(path), "--until-violation")

    assert report["violation"]["invariants"] == violation["invariants"]
    assert report["violation"]["plan"] == violation["plan"]


def test_without_the_bug_the_plan_violates_nothing(violation: dict[str, Any]) -> None:
    assert simulate(plan_from_text(json.dumps(violation["plan"]))).violations == []


def test_a_search_ends_at_the_first_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    reports = [{"violation": None}, {"violation": {"invariants": ["no task is stuck"]}}]
    monkeypatch.setattr(find_mutants, "run_worker", lambda *_options: reports)

    assert search_for(FAST_MUTANT, seeds=3) == Search(FAST_MUTANT, 2, ("no task is stuck",))


def test_a_search_may_find_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find_mutants, "run_worker", lambda *_options: [{"violation": None}] * 3)

    assert str(search_for(FAST_MUTANT, seeds=3)).endswith("3  NOT FOUND")
