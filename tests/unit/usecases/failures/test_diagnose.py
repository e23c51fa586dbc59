"""Diagnosing a failure with learned corrections; it is recorded even if they cannot be read."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from duecourse.domain.failures.classifier.fingerprint import fingerprint_of
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.failure_report import FailureReport
from duecourse.domain.journal.learned_patterns import Correction
from duecourse.domain.origin import Origin
from duecourse.domain.tasks.adapted_delay import RetryOutcomes
from duecourse.domain.tasks.failure_kind import Kind
from duecourse.domain.tasks.run_diagnosis import RunDiagnosis
from duecourse.domain.tasks.task import Task
from duecourse.usecases.failures.diagnose import diagnose_with_learning
from duecourse.usecases.failures.reclassify_task import reclassify_task
from duecourse.usecases.failures.record_failure import FailureDeps, RecordedFailure, record_failure

from tests.support.builders.failures import (
    a_failure_report,
    builtin_policies,
    diagnosis_of,
    fail_task,
)
from tests.support.builders.moments import MINUTE, NOW
from tests.support.builders.runs import run_of
from tests.support.builders.tasks import ID, an_action, claim_task
from tests.support.failure_deps import failure_deps, learning_deps
from tests.support.fakes.patterns import MemoryPatterns
from tests.support.fakes.tasks import MemoryStore

LOCKED = Failure.create("warehouse 7 is locked by batch 9")  # matches no rule
FINGERPRINT = fingerprint_of(LOCKED)
MAX_JITTER = 1.1
UNREAD = "learned_patterns_unavailable: no route"


def patterns_with(
    category: str = "timeout", *, policy: str = "agent", **fields: Any
) -> MemoryPatterns:
    correction = Correction(category=category, corrected_at=NOW, rule_category="unknown")
    return MemoryPatterns({(policy, FINGERPRINT): correction}, **fields)


def deps_for(
    task: Task, patterns: MemoryPatterns | None = None, *, is_adaptive: bool = False
) -> FailureDeps:
    return failure_deps(
        MemoryStore(task), learning=learning_deps(patterns, is_adaptive=is_adaptive)
    )


def record(
    patterns: MemoryPatterns | None,
    failure: Failure = LOCKED,
    *,
    is_adaptive: bool = False,
    origin: Origin = Origin.WORK,
    **fields: Any,
) -> RecordedFailure:
    task = claim_task(an_action(**fields))
    report: FailureReport = replace(a_failure_report(task, failure), origin=origin)
    result = record_failure(report, deps_for(task, patterns, is_adaptive=is_adaptive))
    assert isinstance(result, RecordedFailure)
    return result


def diagnosis_note(result: RecordedFailure) -> RunDiagnosis:
    return diagnosis_of(result.task)


def rule_category_of(note: RunDiagnosis) -> str | None:
    return note.read_as.category if note.read_as else None


def delay_of(result: RecordedFailure) -> timedelta:
    return result.task.due_at - NOW


def test_the_diagnosis_has_the_fingerprint() -> None:
    assert diagnosis_note(record(None)).fingerprint == FINGERPRINT


def test_an_error_with_the_same_fingerprint_gets_the_corrected_category() -> None:
    result = record(patterns_with(), Failure.create("warehouse 12 is locked by batch 4711"))
    assert (result.diagnosis.category, result.diagnosis.pattern) == ("timeout", "learned")
    assert 5 * MINUTE <= delay_of(result) <= 5 * MINUTE * MAX_JITTER
    note = diagnosis_note(result)
    assert (note.learned, note.pattern, note.confidence) == (True, "learned", 0.95)
    assert rule_category_of(note) == "unknown"


def test_a_correction_does_not_apply_to_another_error_or_policy() -> None:
    other_error = record(patterns_with(), Failure.create("warehouse 7 is flooded"))
    other_policy = record(patterns_with(), policy="enrichment")
    for result in (other_error, other_policy):
        assert result.diagnosis.category == "unknown"
        assert not diagnosis_note(result).learned


@pytest.mark.parametrize("origin", [Origin.LOGIC, Origin.SUBJECT, Origin.NOT_ATTEMPTED])
def test_learned_patterns_are_not_read_for_origins_that_are_not_learnable(origin: Origin) -> None:
    patterns = patterns_with()
    result = record(patterns, origin=origin)
    assert result.diagnosis.category == "unknown"
    assert patterns.reads == []
    assert diagnosis_note(result).fingerprint is None


def test_only_attempted_work_is_learnable() -> None:
    assert {origin for origin in Origin if origin.is_learnable} == {"work", "answer", "crash"}


def test_a_retry_after_of_the_server_applies_to_a_learned_category() -> None:
    failure = Failure.create("warehouse 3 is locked by batch 4", retry_after=1_800)
    assert delay_of(record(patterns_with(), failure)) >= 30 * MINUTE


def test_unreadable_patterns_are_logged_and_change_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    record(patterns_with())
    assert caplog.messages == []
    result = record(patterns_with(error=OSError("no route")), is_adaptive=True)
    assert (result.diagnosis.category, result.task.retry_count) == ("unknown", 1)
    assert caplog.messages == [UNREAD]


def test_delays_are_read_only_if_adaptive_backoff_is_on() -> None:
    patterns = patterns_with()
    record(patterns)
    assert patterns.reads == ["correction"]


def test_the_delay_is_the_one_that_worked_for_the_learned_category() -> None:
    patterns = patterns_with(
        retry_outcomes={
            ("agent", "timeout"): {300: RetryOutcomes(20, 1), 900: RetryOutcomes(20, 19)}
        }
    )
    result = record(patterns, is_adaptive=True)
    assert 15 * MINUTE <= delay_of(result) <= 15 * MINUTE * MAX_JITTER
    note = diagnosis_note(result)
    assert note.adapted is not None
    assert (note.adapted.policy_delay, note.delay) == (5 * MINUTE, 15 * MINUTE)


def test_a_longer_retry_after_is_not_recorded_as_an_adapted_delay() -> None:
    patterns = patterns_with(
        retry_outcomes={
            ("agent", "timeout"): {300: RetryOutcomes(20, 1), 900: RetryOutcomes(20, 19)}
        }
    )
    failure = Failure.create("warehouse 3 is locked by batch 4", retry_after=1_800)
    result = record(patterns, failure, is_adaptive=True)
    assert delay_of(result) >= 30 * MINUTE
    assert diagnosis_note(result).adapted is None


def test_a_run_that_was_not_attempted_has_no_adapted_delay() -> None:
    """Also where the wait happens to be as long as the one that works."""
    tries = {("agent", "transient"): {30: RetryOutcomes(20, 1), 120: RetryOutcomes(20, 19)}}
    task = claim_task(an_action())
    task = replace(task, run=replace(run_of(task), attempt=2))
    report = a_failure_report(task, Failure.create("x", code="ECONNRESET"))
    recorder = deps_for(task, MemoryPatterns(retry_outcomes=tries), is_adaptive=True)
    result = record_failure(replace(report, origin=Origin.NOT_ATTEMPTED), recorder)
    assert isinstance(result, RecordedFailure)
    assert diagnosis_note(result).delay == 2 * MINUTE
    assert diagnosis_note(result).adapted is None


def test_a_final_failure_has_no_adapted_delay() -> None:
    tries = {("agent", "unknown"): {120: RetryOutcomes(20, 1)}}
    result = record(MemoryPatterns(retry_outcomes=tries), is_adaptive=True, retry_count=4)
    assert result.task.next_retry_at is None
    assert diagnosis_note(result).adapted is None


# A person's word


def fail_and_reclassify(
    recorder: FailureDeps, category: str = "transient", failure: Failure = LOCKED
) -> RunDiagnosis:
    record_failure(a_failure_report(recorder.store.get(ID), failure), recorder)
    after = reclassify_task(recorder.store.get(ID), category, recorder, requested_by="ada")
    return diagnosis_of(after)


def test_a_correction_is_recorded_with_its_author_and_the_fingerprint() -> None:
    note = fail_and_reclassify(deps_for(claim_task(an_action())))
    assert (note.pattern, note.by, note.fingerprint) == ("person", "ada", FINGERPRINT)
    assert rule_category_of(note) == "unknown"
    assert not note.learned


def test_correcting_a_learned_category_keeps_the_category_of_the_rules() -> None:
    note = fail_and_reclassify(deps_for(claim_task(an_action()), patterns_with("timeout")))
    assert rule_category_of(note) == "unknown"


@pytest.mark.parametrize(
    ("failure", "category"),
    [
        (Failure.create("no money left", code="budget_exceeded"), "unknown"),
        (LOCKED, "budget_exceeded"),
    ],
)
def test_waits_that_cost_no_retry_are_not_learned(failure: Failure, category: str) -> None:
    recorder = deps_for(claim_task(an_action(policy="enrichment")))
    assert fail_and_reclassify(recorder, category, failure).fingerprint is None


def test_a_stored_run_without_a_fingerprint_gets_the_same_fingerprint() -> None:
    task = fail_task(claim_task(an_action()), LOCKED)
    assert diagnosis_of(task).fingerprint is None
    after = reclassify_task(task, "transient", deps_for(task))
    assert diagnosis_of(after).fingerprint == FINGERPRINT


def test_a_correction_uses_the_delay_that_worked() -> None:
    tries = {("agent", "transient"): {30: RetryOutcomes(20, 1), 120: RetryOutcomes(20, 19)}}
    recorder = deps_for(
        claim_task(an_action()), MemoryPatterns(retry_outcomes=tries), is_adaptive=True
    )
    assert fail_and_reclassify(recorder).delay == 2 * MINUTE


def test_a_correction_is_applied_and_logged_if_patterns_cannot_be_read(
    caplog: pytest.LogCaptureFixture,
) -> None:
    broken = MemoryPatterns(error=OSError("no route"))
    note = fail_and_reclassify(deps_for(claim_task(an_action()), broken, is_adaptive=True))
    assert (note.pattern, note.delay) == ("person", MINUTE / 2)
    assert caplog.messages == [UNREAD, UNREAD]  # as it failed, and as it was judged anew


@pytest.mark.parametrize("reason", ["too long, shorten it", "it violates our content policy"])
@pytest.mark.parametrize("policy", ["standard", "agent"])
def test_rejected_work_is_done_again_whatever_the_reason_says(policy: str, reason: str) -> None:
    task = claim_task(an_action(policy=policy))
    failure = Failure.create(f"Rejected: {reason}", code="rejected")
    report = replace(a_failure_report(task, failure), origin=Origin.REJECTED)
    rules = builtin_policies()[policy]
    diagnosis = diagnose_with_learning(task, report, rules, learning_deps(), now=NOW).diagnosis
    assert (diagnosis.category, diagnosis.kind) == ("unknown", Kind.UNKNOWN)
    assert rules.categories[diagnosis.category].limit != 0
