"""What the summary of many simulations lists as never exercised, and how it looks."""

from __future__ import annotations

from typing import Any

from local.simulate.invariants import INVARIANT_NAMES
from local.simulate.operations import OPERATIONS
from local.simulate.plan import ALL_FAULTS
from local.simulate.summary import GUARDED_SEEDS, Summary


def make_report(seed: int = 1, **values: Any) -> dict[str, Any]:
    return {
        "seed": seed,
        "trace": "abc",
        "is_checked": True,
        "calls": 7,
        "operations": dict.fromkeys(OPERATIONS, 2),
        "succeeded": dict.fromkeys(OPERATIONS, 1),
        "faults": dict.fromkeys(ALL_FAULTS, 1),
        "invariants": dict.fromkeys(INVARIANT_NAMES, 1),
        "unreached": [],
        "violation": None,
        **values,
    }


def summarize(*reports: dict[str, Any]) -> Summary:
    summary = Summary()
    for report in reports:
        summary.add(report)
    return summary


def test_an_operation_that_is_always_refused_was_never_exercised() -> None:
    refused = {**dict.fromkeys(OPERATIONS, 1), "approve": 0}
    summary = summarize(make_report(succeeded=refused))

    assert summary.list_unexercised() == ["approve"]
    known = len(OPERATIONS) + len(ALL_FAULTS) + len(INVARIANT_NAMES)
    assert f"never exercised: 1 of {known}; --json lists them" in str(summary)


def test_after_many_seeds_the_names_are_listed() -> None:
    refused = {**dict.fromkeys(OPERATIONS, 1), "approve": 0, "cancel": 0}
    reports = [make_report(seed, succeeded=refused) for seed in range(GUARDED_SEEDS)]

    assert "never exercised: approve, cancel\n" in f"{summarize(*reports)}\n"


def test_a_seed_counts_as_simulated_once_it_was_checked() -> None:
    summary = summarize(make_report(1, is_checked=False), make_report(2, is_checked=False))
    assert (summary.seeds, summary.repeated) == (0, 0)

    summary.add(make_report(2))

    assert (summary.seeds, summary.repeated) == (1, 1)
    assert str(summary).startswith("1 seed, 1 of them twice, 7 calls: no violation")


def test_faults_and_invariants_that_never_occurred_are_listed() -> None:
    faults = dict.fromkeys(ALL_FAULTS - {"hangs"}, 1)
    invariants = dict.fromkeys(INVARIANT_NAMES - {"no task is stuck"}, 1)
    summary = summarize(make_report(faults=faults, invariants=invariants))

    assert summary.list_unexercised() == ["hangs", "no task is stuck"]


def test_what_one_of_many_seeds_exercised_is_exercised() -> None:
    assert summarize(make_report(1, faults={}), make_report(2)).list_unexercised() == []


def test_the_table_has_names_times_and_successes() -> None:
    text = str(summarize(make_report(), make_report(2)))

    [head] = [line for line in text.splitlines() if line.startswith("operations")]
    [row] = [line for line in text.splitlines() if line.split()[:1] == ["approve"]]
    assert head.split() == ["operations", "times", "succeeded"]
    assert row.split() == ["approve", "4", "2"]
    assert len(head) == len(row)


def test_violations_come_last_with_their_command() -> None:
    violation = {"story": ["12:03:41.000  operation"], "replay": "duecourse simulate --replay x"}
    lines = str(summarize(make_report(3, violation=violation))).splitlines()

    assert lines[-3:] == [
        *("seed 3", "12:03:41.000  operation"),
        "replay it: duecourse simulate --replay x",
    ]
