"""A late report races with answers of people, with claims, and with the commit of a newer run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.failure_report import FailureReport
from duecourse.domain.failures.subject import SubjectStatus
from duecourse.domain.lifecycle.lease import lease_expired_report
from duecourse.domain.lifecycle.resolve_indeterminate import Resolution, resolve_indeterminate
from duecourse.domain.lifecycle.run_transitions import commit
from duecourse.domain.lifecycle.user_actions import cancel, retry
from duecourse.domain.origin import Effect
from duecourse.domain.tasks.handler import HandlerCapabilities
from duecourse.domain.tasks.run import IndeterminatePolicy, MutationStatus, RunStatus
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.usecases.failures.record_failure import CorrectedRun, record_failure

from tests.support.builders.failures import a_failure_report
from tests.support.builders.moments import DAY, MINUTE, NOW
from tests.support.builders.runs import run_of
from tests.support.builders.tasks import ID, an_action, claim_task
from tests.support.failure_deps import failure_deps
from tests.support.fakes.clock import ManualClock
from tests.support.fakes.queues import ListQueue
from tests.support.fakes.tasks import MemoryStore, MemorySubjects

SWEPT_AT, LATER = NOW + 5 * MINUTE, NOW + 8 * MINUTE
REFUSED = Failure.create("connect ECONNREFUSED", code="ECONNREFUSED")
ASKING = HandlerCapabilities(indeterminate_policy=IndeterminatePolicy.ASK_PERSON)
REPEATING = HandlerCapabilities()


class Harness:
    """A task whose run was taken for crashed, and the report of its worker."""

    def __init__(self, capabilities: HandlerCapabilities = ASKING, **fields: Any) -> None:
        self.running = claim_task(an_action(**fields), capabilities=capabilities)
        self.store = MemoryStore(self.running, subjects=MemorySubjects())
        self.clock, self.queue = ManualClock(SWEPT_AT), ListQueue()
        self.record(lease_expired_report(self.running))
        self.clock.at = LATER
        self.report = replace(
            a_failure_report(self.running, REFUSED, at=NOW + MINUTE), started_at=NOW
        )

    @property
    def task(self) -> Task:
        return self.store.get(ID)

    def record(self, report: FailureReport | None = None) -> Any:
        deps = failure_deps(self.store, clock=self.clock, queue=self.queue)
        return record_failure(report or self.report, deps)

    def write(self, task: Task) -> None:
        self.store.tasks[ID] = task

    def finished(self) -> FailureReport:
        return replace(self.report, effect=Effect.APPLIED, result="ok", is_finished=True)


def test_a_late_report_is_recorded_once() -> None:
    harness = Harness()
    assert harness.task.status is Status.BLOCKED
    first = harness.record()
    settled = harness.task
    assert (isinstance(first, CorrectedRun), settled.status) == (True, Status.PENDING)
    assert harness.record() is None
    assert harness.task == settled
    assert harness.record(lease_expired_report(harness.running)) is None


@pytest.mark.parametrize("resolution", Resolution)
def test_an_answer_that_comes_first_stands(resolution: Resolution) -> None:
    harness = Harness()
    answered = resolve_indeterminate(harness.task, resolution, at=LATER)
    harness.store.concurrent_writes = [lambda: harness.write(answered)]
    corrected = harness.record()
    assert isinstance(corrected, CorrectedRun)
    assert not corrected.is_settled
    assert (harness.task.status, harness.task.due_at) == (answered.status, answered.due_at)
    assert run_of(harness.task).mutation == run_of(answered).mutation
    assert run_of(harness.task).error == REFUSED.summary


def test_an_answer_that_comes_second_finds_the_task_settled() -> None:
    harness = Harness()
    harness.record(harness.finished())
    task = harness.task
    assert (task.status, run_of(task).status) == (Status.COMPLETED, RunStatus.COMMITTED)
    assert (run_of(task).mutation.result, task.last_error, task.retry_count) == ("ok", None, 0)


def test_a_claim_that_comes_first_can_still_commit() -> None:
    harness = Harness(REPEATING)
    claimed = claim_task(harness.task, "run-2", at=LATER)
    harness.store.concurrent_writes = [lambda: harness.write(claimed)]
    harness.record(harness.finished())
    assert (harness.task, harness.task.version) == (claimed, claimed.version)
    late = harness.task.late_report
    assert late is not None
    assert (late.run_id, late.started_at, late.effect) == ("run-1", NOW, Effect.APPLIED)
    harness.store.save(claimed, commit(claimed, "ok", at=LATER))
    assert harness.task.status is Status.COMPLETED


def test_a_late_report_without_the_start_of_its_run_changes_nothing() -> None:
    """Reports of older code do not say where the record of the run is."""
    harness = Harness(REPEATING)
    harness.write(claim_task(harness.task, "run-2", at=LATER))
    assert harness.record(replace(harness.report, started_at=None)) is None
    assert harness.task.late_report is None


@pytest.mark.parametrize("change", [lambda task: cancel(task, at=LATER), None])
def test_a_task_that_somebody_cancelled_or_retried_is_not_settled(change: Any) -> None:
    harness = Harness(REPEATING)
    changed = change(harness.task) if change else retry(harness.task, at=LATER)
    harness.write(changed)
    harness.record(harness.finished())
    assert (harness.task.status, harness.task.due_at) == (changed.status, changed.due_at)


def test_a_late_success_is_the_success_of_its_subject() -> None:
    harness = Harness(REPEATING, policy="enrichment", subject="story-1", max_retries=3)
    subject = harness.store.subjects.get("story-1")
    assert subject.recent_errors.count_since("2026-02-17") == 1
    harness.record(harness.finished())
    after = harness.store.subjects.get("story-1")
    assert (after.status, after.failure_count) == (SubjectStatus.SUCCESS, 0)
    assert after.recent_errors.count_since("2026-02-17") == 0


def test_a_subject_that_was_tried_since_keeps_its_state() -> None:
    harness = Harness(REPEATING, policy="enrichment", subject="story-1", max_retries=3)
    subject = harness.store.subjects.get("story-1")
    later = replace(subject.record_success(at=LATER), failure_count=2)
    harness.store.subjects.save(later)
    harness.record()
    after = harness.store.subjects.get("story-1")
    assert (after.failure_count, after.last_attempt_at) == (2, LATER)
    assert harness.task.last_error_category == "network_timeout"


def test_a_budget_that_was_used_up_is_not_counted_when_it_is_reported_late() -> None:
    harness = Harness()
    over = Failure.create("no money left", code="budget_exceeded")
    harness.record(replace(harness.report, failure=over, is_over_budget=True))
    task = harness.task
    assert (task.retry_count, task.due_at) == (0, NOW.replace(hour=0) + DAY)
    assert run_of(task).status is RunStatus.PAUSED_BUDGET
    assert task.recent_errors.budget_blocked_on == "2026-02-17"
    assert run_of(task).mutation.status is MutationStatus.FAILED


def test_a_retry_after_the_next_occurrence_of_a_series_is_given_up() -> None:
    harness = Harness(policy="enrichment", max_retries=3, repeat="daily")
    limited = Failure.create("Too Many Requests", status=429)  # a wait of 24 hours
    before = harness.task
    harness.record(replace(harness.report, failure=limited))
    task = harness.task
    assert (task.status, task.due_at, task.next_retry_at) == (Status.PENDING, before.due_at, None)
    assert (run_of(task).status, run_of(task).category) == (
        *(RunStatus.FAILED_PERMANENT, "rate_limit"),
    )


def test_work_that_is_still_to_be_verified_is_verified_by_the_next_run() -> None:
    harness = Harness(verify=True)
    harness.record(replace(harness.finished(), is_finished=False))
    task = harness.task
    assert (task.status, run_of(task).is_applied) == (Status.PENDING, True)
    resumed = run_of(claim_task(task, "run-2", at=task.due_at, capabilities=ASKING))
    assert (resumed.phase, resumed.mutation.result) == ("emitting", "ok")
