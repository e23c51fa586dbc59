"""A planted bug is found, and its plan is shrunk. `make simulate-mutants` does so for all bugs."""

from __future__ import annotations

from local.simulate.find_mutants import Search, run_worker, search_for

FAST_MUTANT = "retry-not-numbered"  # the first seed finds it
MAX_OPERATIONS = 2


def test_a_planted_bug_is_found_and_its_plan_is_short() -> None:
    [report] = run_worker("--mutant", FAST_MUTANT, "--last", "1")
    violation = report["violation"]
    assert violation["invariants"] == ["runs are linked and numbered"]
    assert 1 <= len(violation["plan"]["operations"]) <= MAX_OPERATIONS
    assert violation["story"]


def test_a_search_names_the_seeds_and_the_invariants() -> None:
    expected = Search(FAST_MUTANT, 1, ("runs are linked and numbered",))
    assert search_for(FAST_MUTANT, seeds=3) == expected


def test_without_the_bug_the_same_seed_violates_nothing() -> None:
    [report] = run_worker("--last", "1")
    assert report["violation"] is None
