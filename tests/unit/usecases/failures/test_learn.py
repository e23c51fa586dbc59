"""Learning from what was committed: each failure, each retry, and what a person says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from duecourse.domain.tasks.run import PreviousFailure, RunStatus
from duecourse.domain.tasks.run_diagnosis import Reading
from duecourse.usecases.failures.learn import count_run, learn_correction

from tests.support.builders.moments import NOW
from tests.support.builders.runs import DIAGNOSIS, a_committed_run, a_failed_run
from tests.support.builders.tasks import a_task, an_action
from tests.support.fakes.patterns import MemoryPatterns

PRINT = "0123456789abcdef"
NOTE = replace(DIAGNOSIS, fingerprint=PRINT)
FOLLOWS = PreviousFailure(category="timeout", fingerprint=PRINT, delay_seconds=300)


def test_a_failure_is_seen() -> None:
    patterns = MemoryPatterns()
    count_run(an_action(), a_failed_run(diagnosis=NOTE), patterns)
    assert [sighting.fingerprint for sighting in patterns.observations] == [PRINT]
    assert patterns.retries == []


@pytest.mark.parametrize(
    ("run", "worked"),
    [
        (a_committed_run(previous_failure=FOLLOWS), True),
        (a_failed_run(previous_failure=FOLLOWS, diagnosis=NOTE), False),
    ],
)
def test_a_retry_counts_for_what_it_followed(run: Any, worked: bool) -> None:
    patterns = MemoryPatterns()
    count_run(an_action(), run, patterns)
    assert patterns.retries == [("agent", FOLLOWS, worked)]


def test_where_nothing_was_tried_the_delay_was_neither_right_nor_wrong() -> None:
    patterns = MemoryPatterns()
    note = replace(NOTE, counted=False)
    count_run(an_action(), a_failed_run(previous_failure=FOLLOWS, diagnosis=note), patterns)
    assert patterns.retries == []


def test_what_cannot_be_counted_is_told_and_let_go() -> None:
    broken = MemoryPatterns(error=OSError("no route"))
    assert isinstance(count_run(an_action(), a_failed_run(diagnosis=NOTE), broken), OSError)
    assert count_run(an_action(), a_failed_run(diagnosis=NOTE), MemoryPatterns()) is None


def test_a_success_teaches_nothing_of_failures() -> None:
    patterns = MemoryPatterns()
    count_run(an_action(), a_committed_run(), patterns)
    assert (patterns.observations, patterns.retries) == ([], [])


def test_what_a_person_says_is_taught() -> None:
    patterns = MemoryPatterns()
    before = a_failed_run(diagnosis=NOTE)
    note = replace(NOTE, pattern="person", read_as=Reading(category="timeout"))
    after = replace(before, category="transient", diagnosis=note)
    learn_correction(an_action(run=before), an_action(run=after), after, patterns, at=NOW)
    [(sighting, said)] = patterns.corrections
    assert (sighting.policy, sighting.fingerprint, sighting.rule_category) == (
        "agent",
        PRINT,
        "timeout",
    )
    assert said.category == "transient"


def test_nobody_is_taught_by_a_run_that_just_ends() -> None:
    patterns = MemoryPatterns()
    run = a_failed_run(diagnosis=NOTE)
    learn_correction(
        a_task(run=replace(run, status=RunStatus.ACTIVE)), a_task(run=run), run, patterns, at=NOW
    )
    assert patterns.corrections == []
