"""Learning from committed runs: failures, retry outcomes and corrections by people."""

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

FINGERPRINT = "0123456789abcdef"
NOTE = replace(DIAGNOSIS, fingerprint=FINGERPRINT)
PREVIOUS = PreviousFailure(category="timeout", fingerprint=FINGERPRINT, delay_seconds=300)


def test_a_failure_is_recorded_as_a_sighting() -> None:
    patterns = MemoryPatterns()
    count_run(an_action(), a_failed_run(diagnosis=NOTE), patterns)
    assert [sighting.fingerprint for sighting in patterns.observations] == [FINGERPRINT]
    assert patterns.retries == []


@pytest.mark.parametrize(
    ("run", "worked"),
    [
        (a_committed_run(previous_failure=PREVIOUS), True),
        (a_failed_run(previous_failure=PREVIOUS, diagnosis=NOTE), False),
    ],
)
def test_the_outcome_of_a_retry_counts_for_the_previous_failure(run: Any, worked: bool) -> None:
    patterns = MemoryPatterns()
    count_run(an_action(), run, patterns)
    assert patterns.retries == [("agent", PREVIOUS, worked)]


def test_a_retry_that_was_not_attempted_does_not_count_for_its_delay() -> None:
    patterns = MemoryPatterns()
    note = replace(NOTE, counted=False)
    count_run(an_action(), a_failed_run(previous_failure=PREVIOUS, diagnosis=note), patterns)
    assert patterns.retries == []


def test_a_failed_write_is_reported_and_does_not_raise() -> None:
    broken = MemoryPatterns(error=OSError("no route"))
    assert isinstance(count_run(an_action(), a_failed_run(diagnosis=NOTE), broken), OSError)
    assert count_run(an_action(), a_failed_run(diagnosis=NOTE), MemoryPatterns()) is None


def test_a_success_records_no_sighting() -> None:
    patterns = MemoryPatterns()
    count_run(an_action(), a_committed_run(), patterns)
    assert (patterns.observations, patterns.retries) == ([], [])


def test_a_correction_by_a_person_is_learned() -> None:
    patterns = MemoryPatterns()
    before = a_failed_run(diagnosis=NOTE)
    note = replace(NOTE, pattern="person", read_as=Reading(category="timeout"))
    after = replace(before, category="transient", diagnosis=note)
    learn_correction(an_action(run=before), an_action(run=after), after, patterns, at=NOW)
    [(sighting, corrected)] = patterns.corrections
    assert (sighting.policy, sighting.fingerprint, sighting.rule_category) == (
        "agent",
        FINGERPRINT,
        "timeout",
    )
    assert corrected.category == "transient"


def test_a_run_that_ends_without_a_correction_teaches_none() -> None:
    patterns = MemoryPatterns()
    run = a_failed_run(diagnosis=NOTE)
    learn_correction(
        a_task(run=replace(run, status=RunStatus.ACTIVE)), a_task(run=run), run, patterns, at=NOW
    )
    assert patterns.corrections == []
