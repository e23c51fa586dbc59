"""A failure is read in the light of what was learnt; whatever keeps that away, it is recorded."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from duecourse.domain.failures.classifier.fingerprint import fingerprint_of
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.failure_report import FailureReport
from duecourse.domain.journal.learned_patterns import Correction, LearnedPattern
from duecourse.domain.origin import Origin
from duecourse.domain.tasks.adapted_delay import RetryOutcomes
from duecourse.domain.tasks.run_diagnosis import RunDiagnosis
from duecourse.domain.tasks.task import Task
from duecourse.usecases.failures.reclassify_task import reclassify_task
from duecourse.usecases.failures.record_failure import FailureDeps, RecordedFailure, record_failure

from tests.support.builders.failures import a_failure_report, diagnosis_of, fail_task
from tests.support.builders.moments import MINUTE, NOW
from tests.support.builders.runs import run_of
from tests.support.builders.tasks import ID, an_action, claim_task
from tests.support.failure_deps import failure_deps, learning_deps
from tests.support.fakes.patterns import MemoryPatterns
from tests.support.fakes.tasks import MemoryStore

LOCKED = Failure.create("warehouse 7 is locked by batch 9")  # that no rule knows
PRINT = fingerprint_of(LOCKED)
TENTH = 1.1
UNREAD = "learned_patterns_unavailable: no route"


def taught(category: str = "timeout", *, policy: str = "agent", **fields: Any) -> MemoryPatterns:
    pattern = LearnedPattern(
        policy=policy,
        fingerprint=PRINT,
        category="unknown",
        rule_category="unknown",
        example="warehouse 1 is locked by batch 2",
        last_seen_at=NOW,
        correction=Correction(category=category, corrected_at=NOW, rule_category="unknown"),
    )
    return MemoryPatterns({(policy, PRINT): pattern}, **fields)


def recalling(
    task: Task, patterns: MemoryPatterns | None = None, *, adapts: bool = False
) -> FailureDeps:
    return failure_deps(MemoryStore(task), learning=learning_deps(patterns, is_adaptive=adapts))


def recorded(
    patterns: MemoryPatterns | None,
    failure: Failure = LOCKED,
    *,
    adapts: bool = False,
    origin: Origin = Origin.WORK,
    **fields: Any,
) -> RecordedFailure:
    task = claim_task(an_action(**fields))
    report: FailureReport = replace(a_failure_report(task, failure), origin=origin)
    found = record_failure(report, recalling(task, patterns, adapts=adapts))
    assert found is not None
    return found


def note_of(found: RecordedFailure) -> RunDiagnosis:
    return diagnosis_of(found.task)


def rules_category(note: RunDiagnosis) -> str | None:
    return note.read_as.category if note.read_as else None


def wait_of(found: RecordedFailure) -> timedelta:
    return found.task.due_at - NOW


def test_the_note_has_the_fingerprint() -> None:
    assert note_of(recorded(None)).fingerprint == PRINT


def test_the_same_error_is_read_as_a_person_said() -> None:
    found = recorded(taught(), Failure.create("warehouse 12 is locked by batch 4711"))
    assert (found.diagnosis.category, found.diagnosis.pattern) == ("timeout", "learned")
    assert 5 * MINUTE <= wait_of(found) <= 5 * MINUTE * TENTH
    note = note_of(found)
    assert (note.learned, note.pattern, note.confidence) == (True, "learned", 0.95)
    assert rules_category(note) == "unknown"


def test_another_error_is_not_and_nor_is_another_policys() -> None:
    other = recorded(taught(), Failure.create("warehouse 7 is flooded"))
    elsewhere = recorded(taught(), policy="enrichment")
    for found in (other, elsewhere):
        assert found.diagnosis.category == "unknown"
        assert not note_of(found).learned


@pytest.mark.parametrize("origin", [Origin.LOGIC, Origin.SUBJECT, Origin.NOT_ATTEMPTED])
def test_what_settles_by_itself_is_not_even_asked_about(origin: Origin) -> None:
    patterns = taught()
    found = recorded(patterns, origin=origin)
    assert found.diagnosis.category == "unknown"
    assert patterns.reads == []
    assert note_of(found).fingerprint is None


def test_only_work_that_was_tried_teaches() -> None:
    assert {origin for origin in Origin if origin.is_learnable} == {"work", "answer", "crash"}


def test_what_the_server_asks_for_still_counts() -> None:
    failure = Failure.create("warehouse 3 is locked by batch 4", retry_after=1_800)
    assert wait_of(recorded(taught(), failure)) >= 30 * MINUTE


def test_a_memory_that_cannot_be_read_changes_nothing_but_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    recorded(taught())
    assert caplog.messages == []
    found = recorded(taught(error=OSError("no route")), adapts=True)
    assert (found.diagnosis.category, found.task.retry_count) == ("unknown", 1)
    assert caplog.messages == [UNREAD]


def test_delays_are_asked_about_only_where_they_are_adapted() -> None:
    patterns = taught()
    recorded(patterns)
    assert patterns.reads == ["pattern"]


def test_the_delay_is_that_which_worked_for_the_category_as_learned() -> None:
    patterns = taught(
        retry_outcomes={
            ("agent", "timeout"): {300: RetryOutcomes(20, 1), 900: RetryOutcomes(20, 19)}
        }
    )
    found = recorded(patterns, adapts=True)
    assert 15 * MINUTE <= wait_of(found) <= 15 * MINUTE * TENTH
    note = note_of(found)
    assert note.adapted is not None
    assert (note.adapted.policy_delay, note.delay) == (5 * MINUTE, 15 * MINUTE)


def test_a_servers_time_that_is_longer_is_not_put_down_to_what_was_learnt() -> None:
    patterns = taught(
        retry_outcomes={
            ("agent", "timeout"): {300: RetryOutcomes(20, 1), 900: RetryOutcomes(20, 19)}
        }
    )
    failure = Failure.create("warehouse 3 is locked by batch 4", retry_after=1_800)
    found = recorded(patterns, failure, adapts=True)
    assert wait_of(found) >= 30 * MINUTE
    assert note_of(found).adapted is None


def test_where_nothing_was_attempted_no_delay_is_adapted() -> None:
    """Also where the wait happens to be as long as the one that works."""
    tries = {("agent", "transient"): {30: RetryOutcomes(20, 1), 120: RetryOutcomes(20, 19)}}
    task = claim_task(an_action())
    task = replace(task, run=replace(run_of(task), attempt=2))
    report = a_failure_report(task, Failure.create("x", code="ECONNRESET"))
    recorder = recalling(task, MemoryPatterns(retry_outcomes=tries), adapts=True)
    found = record_failure(replace(report, origin=Origin.NOT_ATTEMPTED), recorder)
    assert found is not None
    assert note_of(found).delay == 2 * MINUTE
    assert note_of(found).adapted is None


def test_what_is_given_up_has_no_delay_to_adapt() -> None:
    tries = {("agent", "unknown"): {120: RetryOutcomes(20, 1)}}
    found = recorded(MemoryPatterns(retry_outcomes=tries), adapts=True, retry_count=4)
    assert found.task.next_retry_at is None
    assert note_of(found).adapted is None


# A person's word


def failed_and_reclassified(
    recorder: FailureDeps, category: str = "transient", failure: Failure = LOCKED
) -> RunDiagnosis:
    record_failure(a_failure_report(recorder.store.get(ID), failure), recorder)
    after = reclassify_task(recorder.store.get(ID), category, recorder, requested_by="ada")
    return diagnosis_of(after)


def test_what_a_person_says_is_noted_with_their_name_and_the_same_fingerprint() -> None:
    note = failed_and_reclassified(recalling(claim_task(an_action())))
    assert (note.pattern, note.by, note.fingerprint) == ("person", "ada", PRINT)
    assert rules_category(note) == "unknown"
    assert not note.learned


def test_where_it_was_learned_wrongly_the_rules_reading_is_kept() -> None:
    note = failed_and_reclassified(recalling(claim_task(an_action()), taught("timeout")))
    assert rules_category(note) == "unknown"


@pytest.mark.parametrize(
    ("failure", "category"),
    [
        (Failure.create("no money left", code="budget_exceeded"), "unknown"),
        (LOCKED, "budget_exceeded"),
    ],
)
def test_of_waits_that_cost_no_retry_nothing_is_learnt(failure: Failure, category: str) -> None:
    recorder = recalling(claim_task(an_action(policy="enrichment")))
    assert failed_and_reclassified(recorder, category, failure).fingerprint is None


def test_a_run_from_before_fingerprints_were_taken_has_the_same_one() -> None:
    task = fail_task(claim_task(an_action()), LOCKED)
    assert diagnosis_of(task).fingerprint is None
    after = reclassify_task(task, "transient", recalling(task))
    assert diagnosis_of(after).fingerprint == PRINT


def test_a_person_is_followed_with_the_delay_that_works() -> None:
    tries = {("agent", "transient"): {30: RetryOutcomes(20, 1), 120: RetryOutcomes(20, 19)}}
    recorder = recalling(claim_task(an_action()), MemoryPatterns(retry_outcomes=tries), adapts=True)
    assert failed_and_reclassified(recorder).delay == 2 * MINUTE


def test_a_person_is_heard_while_nothing_can_be_read_and_that_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    broken = MemoryPatterns(error=OSError("no route"))
    note = failed_and_reclassified(recalling(claim_task(an_action()), broken, adapts=True))
    assert (note.pattern, note.delay) == ("person", MINUTE / 2)
    assert caplog.messages == [UNREAD, UNREAD]  # as it failed, and as it was judged anew
