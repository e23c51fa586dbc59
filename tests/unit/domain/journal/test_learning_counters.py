"""What ended runs teach: how often a pattern was seen, and which retries succeeded."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from duecourse.domain.journal.counters import count_change
from duecourse.domain.journal.increment import Increment, merge_increments
from duecourse.domain.journal.learning_counters import (
    PatternCounts,
    RunRef,
    learning_increments,
    read_pattern_counts,
    read_retry_outcomes,
)
from duecourse.domain.tasks.adapted_delay import RetryOutcomes
from duecourse.domain.tasks.run import PreviousFailure, Run, RunStatus

from tests.support.builders.moments import DAY, MINUTE, NOW
from tests.support.builders.runs import DIAGNOSIS, a_committed_run, a_failed_run, a_run
from tests.support.builders.tasks import ID, an_action

FINGERPRINT = "0123456789abcdef"
NOTE = replace(DIAGNOSIS, fingerprint=FINGERPRINT)
PREVIOUS = PreviousFailure(category="timeout", fingerprint=FINGERPRINT, delay_seconds=300)
LEARNED, DELAY = f"learned#agent#{FINGERPRINT}", "delay#agent#timeout"
TODAY = "2026-02-17"


def teach(*runs: Run, policy: str = "agent") -> list[Increment]:
    task = an_action(policy=policy)
    return [increment for run in runs for increment in learning_increments(task, run)]


def sums(*runs: Run) -> dict[str, dict[str, int]]:
    return {increment.counter: dict(increment.sums) for increment in teach(*runs)}


def test_a_failure_is_counted_for_its_pattern_with_a_reference_to_its_run() -> None:
    run = a_failed_run(diagnosis=NOTE, started_at=NOW - MINUTE)
    ref = RunRef(NOW, ID, "run-1", NOW - MINUTE)
    assert teach(run) == [Increment(TODAY, LEARNED, {"seen": 1}, latest={"last": ref.to_text()})]


@pytest.mark.parametrize(
    "run",
    [
        a_failed_run(),
        a_failed_run(diagnosis=None),
        a_failed_run(diagnosis=NOTE, category=None),
        a_committed_run(),
        a_run(status=RunStatus.CANCELLED, ended_at=NOW, diagnosis=NOTE, category="timeout"),
    ],
    ids=["no fingerprint", "no diagnosis", "no category", "a success", "cancelled"],
)
def test_another_run_is_counted_for_no_pattern(run: Run) -> None:
    assert teach(run) == []


@pytest.mark.parametrize("has_succeeded", [True, False])
def test_the_outcome_of_a_retry_counts_for_the_previous_failure(has_succeeded: bool) -> None:
    run = (
        a_committed_run(previous_failure=PREVIOUS)
        if has_succeeded
        else a_failed_run(previous_failure=PREVIOUS)
    )
    worked = int(has_succeeded)
    assert sums(run) == {
        LEARNED: {"tried": 1, "worked": worked},
        DELAY: {"t300": 1, "w300": worked},
    }


def test_a_failed_retry_counts_for_its_own_pattern_and_the_previous_one() -> None:
    run = a_failed_run(diagnosis=replace(NOTE, fingerprint="another"), previous_failure=PREVIOUS)
    assert sums(run).keys() == {"learned#agent#another", LEARNED, DELAY}


def test_a_retry_that_was_not_attempted_does_not_count_for_its_delay() -> None:
    run = a_failed_run(previous_failure=PREVIOUS, diagnosis=replace(NOTE, counted=False))
    assert sums(run) == {LEARNED: {"seen": 1}}


def test_a_retry_without_a_policy_delay_is_not_counted_by_delay() -> None:
    run = a_committed_run(previous_failure=replace(PREVIOUS, delay_seconds=None))
    assert sums(run) == {LEARNED: {"tried": 1, "worked": 1}}


def test_a_retry_after_a_failure_without_a_fingerprint_counts_only_by_delay() -> None:
    run = a_committed_run(previous_failure=replace(PREVIOUS, fingerprint=None))
    assert sums(run).keys() == {DELAY}


def test_the_counters_of_a_change_include_what_it_teaches() -> None:
    for run in (a_failed_run(diagnosis=NOTE), a_committed_run(previous_failure=PREVIOUS)):
        counted = count_change(None, an_action(run=run), late_after=MINUTE)
        assert [one for one in counted if one.counter in (LEARNED, DELAY)] == teach(run) != []


# Reading


def test_a_run_reference_is_read_unchanged() -> None:
    ref = RunRef(NOW, ID, "run-1", NOW - MINUTE)
    assert RunRef.from_text(ref.to_text()) == ref


def read(*increments: Increment, is_merged: bool) -> list[Increment]:
    return merge_increments(increments) if is_merged else list(increments)


@pytest.mark.parametrize("is_merged", [True, False])
def test_pattern_counts_sum_up_days_and_know_the_latest_failure(is_merged: bool) -> None:
    runs = [
        a_failed_run(id="run-1", diagnosis=NOTE),
        a_failed_run(id="run-3", diagnosis=NOTE, at=NOW + DAY),
        a_failed_run(id="run-2", diagnosis=NOTE, at=NOW - DAY, previous_failure=PREVIOUS),
        a_committed_run(id="run-4", at=NOW + 2 * DAY, previous_failure=PREVIOUS),
    ]
    counts = read_pattern_counts("agent", read(*teach(*runs), is_merged=is_merged))
    latest = RunRef(NOW + DAY, ID, "run-3", NOW + DAY)
    assert counts == {FINGERPRINT: PatternCounts(seen=3, tried=2, worked=1, latest=latest)}


def test_a_pattern_of_which_only_retries_were_counted_has_no_latest_failure() -> None:
    counts = read_pattern_counts("agent", teach(a_committed_run(previous_failure=PREVIOUS)))
    assert counts == {FINGERPRINT: PatternCounts(tried=1, worked=1)}


def retry(seconds: int, *, category: str = "timeout", **fields: Any) -> Run:
    previous = PreviousFailure(category=category, delay_seconds=seconds)
    return a_committed_run(previous_failure=previous, **fields)


@pytest.mark.parametrize("is_merged", [True, False])
def test_retry_outcomes_are_read_by_policy_category_and_delay(is_merged: bool) -> None:
    failed = a_failed_run(previous_failure=PREVIOUS)
    increments = [
        *teach(retry(30), retry(30, at=NOW + DAY), retry(300), failed, retry(30, category="x")),
        *teach(retry(30), policy="omega"),
    ]
    outcomes = read_retry_outcomes("agent", read(*increments, is_merged=is_merged))
    assert outcomes == {
        "timeout": {30: RetryOutcomes(2, 2), 300: RetryOutcomes(2, 1)},
        "x": {30: RetryOutcomes(1, 1)},
    }


def test_other_counters_teach_nothing() -> None:
    others = [Increment(TODAY, "category#timeout", {"t30": 1, "seen": 1})]
    assert read_pattern_counts("agent", others) == {}
    assert read_retry_outcomes("agent", others) == {}
    assert read_retry_outcomes("agen", teach(retry(30))) == {}
