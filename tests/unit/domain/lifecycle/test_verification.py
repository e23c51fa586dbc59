"""Verification of work by a verifier or a person: approval, rejection, timeout and conflicts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from duecourse.domain.dispatch.timing import Dispatch
from duecourse.domain.errors import InvalidStateError, StaleTaskError
from duecourse.domain.failures.failure_report import FailureReport
from duecourse.domain.failures.subject import SubjectStatus
from duecourse.domain.journal.history import events_between
from duecourse.domain.lifecycle.apply_failure import applies_to
from duecourse.domain.lifecycle.user_actions import cancel, retry
from duecourse.domain.lifecycle.verification import (
    MAX_VERIFIER_ATTEMPTS,
    approve,
    begin_verifier_attempt,
    hand_over_to_person,
    is_verification_overdue,
    rejection_report,
    request_verification,
    verification_timeout_report,
    verifier_payload,
)
from duecourse.domain.origin import Origin
from duecourse.domain.tasks.handler import HandlerCapabilities
from duecourse.domain.tasks.outcome_marker import Failed, NoOutcome, Outcome, Succeeded
from duecourse.domain.tasks.run import IndeterminatePolicy, MutationStatus, Phase, RunStatus
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import WaitReason
from duecourse.usecases.failures.record_failure import CorrectedRun, RecordedFailure, record_failure
from duecourse.usecases.runs.approve_reject import ApprovalDeps, approve_task, reject_task
from duecourse.usecases.runs.verify_task import Verdict, verify_task

from tests.support.builders.failures import a_subject
from tests.support.builders.moments import DAY, HOUR, MILLISECOND, NOW
from tests.support.builders.runs import LEASE, run_of
from tests.support.builders.tasks import ID, an_action, claim_task
from tests.support.failure_deps import failure_deps
from tests.support.fakes.clock import ManualClock
from tests.support.fakes.queues import ListFailures, ListQueue
from tests.support.fakes.tasks import MemoryStore, MemorySubjects
from tests.support.scripted_verifier import ScriptedVerifier, verification_deps

WITHOUT_EMIT = HandlerCapabilities(
    has_prepare=True, indeterminate_policy=IndeterminatePolicy.ASK_PERSON
)
WITH_EMIT = HandlerCapabilities(
    has_prepare=True, has_emit=True, indeterminate_policy=IndeterminatePolicy.ASK_PERSON
)
REPLY = {"reply": "Mended."}
WITH_VERIFIER: dict[str, Any] = {
    "payload": {"provider": "scripted", "verifier": {"provider": "scripted"}}
}


def a_task_to_verify(*, capabilities: HandlerCapabilities = WITHOUT_EMIT, **fields: Any) -> Task:
    """Return an action that ran at NOW and must be verified within a day."""
    task = claim_task(an_action(verify=True, **fields), capabilities=capabilities)
    return request_verification(task, REPLY, at=NOW, verify_until=NOW + DAY)


def event_types(old: Task, new: Task) -> list[str]:
    return [event.type for event in events_between(old, new, at=NOW)]


class Harness:
    """One task with its verifier and the use cases that record verdicts."""

    def __init__(
        self, task: Task, outcome: Outcome | Exception | None = None, *, subject: bool = False
    ) -> None:
        subjects = MemorySubjects(a_subject(failure_count=2, version=1) if subject else a_subject())
        self.store = MemoryStore(task, subjects=subjects)
        self.queue = ListQueue()
        self.failures = ListFailures()
        self.clock = ManualClock(NOW)
        self.verifier = ScriptedVerifier(outcome)
        self.approval_deps = ApprovalDeps(self.store, self.store.subjects, self.queue)
        self.failure_deps = failure_deps(self.store, queue=self.queue, clock=self.clock)

    @property
    def task(self) -> Task:
        return self.store.get(ID)

    def verify(self, task: Task | None = None) -> Verdict:
        deps = verification_deps(self.store, self.queue, self.failures, self.clock, self.verifier)
        return verify_task(task or self.task, deps)

    def record(self) -> RecordedFailure | None:
        recorded = record_failure(self.failures.pop(), self.failure_deps)
        assert not isinstance(recorded, CorrectedRun)
        return recorded

    def write_concurrently(self, change: Callable[[Task], Task]) -> None:
        """Apply another writer's change just before the next write."""
        changed = change(self.task)
        self.store.concurrent_writes = [lambda: self.store.tasks.update({ID: changed})]


# Requesting verification


def test_work_without_a_verifier_waits_a_day_for_a_person() -> None:
    task = a_task_to_verify()
    assert (task.status, task.wait_reason) == (Status.PENDING_VERIFICATION, WaitReason.VERIFICATION)
    assert (task.due_at, run_of(task).verify_until) == (NOW + DAY, NOW + DAY)


def test_work_with_a_verifier_is_verified_at_once() -> None:
    task = a_task_to_verify(**WITH_VERIFIER)
    assert (task.due_at, task.wait_reason) == (NOW, WaitReason.VERIFIER)
    assert run_of(task).verify_until == NOW + DAY


def test_a_run_awaiting_verification_stays_open_and_keeps_its_result() -> None:
    run = run_of(a_task_to_verify())
    assert (run.status, run.ended_at) == (RunStatus.PAUSED_APPROVAL, None)
    assert (run.phase, run.mutation.status, run.mutation.result) == (
        *(Phase.MUTATED, MutationStatus.APPLIED, REPLY),
    )


@pytest.mark.parametrize("verifier", [None, "scripted", ["scripted"], 1])
def test_a_verifier_without_a_provider_is_ignored(verifier: Any) -> None:
    assert verifier_payload(an_action(payload={"verifier": verifier})) is None


@pytest.mark.parametrize(
    ("at", "is_overdue"),
    [(NOW + DAY - MILLISECOND, False), (NOW + DAY, True), (NOW + DAY + MILLISECOND, True)],
)
def test_verification_is_overdue_at_its_deadline(at: datetime, is_overdue: bool) -> None:
    assert is_verification_overdue(a_task_to_verify(), at=at) is is_overdue


def test_handing_over_to_a_person_records_a_second_verification_request() -> None:
    running = claim_task(an_action(verify=True, **WITH_VERIFIER), capabilities=WITHOUT_EMIT)
    awaiting_verification = request_verification(running, REPLY, at=NOW, verify_until=NOW + DAY)
    verifying = begin_verifier_attempt(awaiting_verification, at=NOW, lease=LEASE)
    assert verifying is not None
    assert event_types(running, awaiting_verification) == ["task:verification_requested"]
    assert event_types(awaiting_verification, verifying) == []
    assert event_types(verifying, hand_over_to_person(verifying)) == ["task:verification_requested"]


# Approval


def test_approved_work_is_completed_with_its_result() -> None:
    task = approve(a_task_to_verify(), at=NOW + HOUR)
    assert (task.status, task.delivered_at, task.wait_reason) == (
        *(Status.COMPLETED, NOW + HOUR, None),
    )
    run = run_of(task)
    assert (run.status, run.ended_at, run.mutation.result) == (
        *(RunStatus.COMMITTED, NOW + HOUR, REPLY),
    )


def test_an_approved_occurrence_advances_the_series() -> None:
    task = approve(a_task_to_verify(repeat="daily"), at=NOW + HOUR)
    assert (task.status, task.due_at, task.nominal_at) == (Status.PENDING, NOW + DAY, NOW + DAY)
    assert (task.wait_reason, task.retry_count) == (None, 0)


def test_approved_work_with_emit_is_due_at_once() -> None:
    task = approve(a_task_to_verify(capabilities=WITH_EMIT), at=NOW + HOUR)
    run = run_of(task)
    assert (task.status, task.due_at, task.wait_reason) == (Status.PENDING, NOW + HOUR, None)
    assert (run.is_verified, run.status, run.ended_at) == (
        *(True, RunStatus.PAUSED_APPROVAL, NOW + HOUR),
    )


def test_the_approval_event_precedes_the_completion_event() -> None:
    before = a_task_to_verify()
    assert event_types(before, approve(before, at=NOW)) == ["task:approved", "task:completed"]
    before = a_task_to_verify(capabilities=WITH_EMIT)
    assert event_types(before, approve(before, at=NOW)) == ["task:approved"]


def test_a_failed_emit_of_approved_work_records_a_retry() -> None:
    """A verified run can still fail while it emits."""
    harness = Harness(approve(a_task_to_verify(capabilities=WITH_EMIT), at=NOW))
    running = claim_task(harness.task, "run-2", capabilities=WITH_EMIT)
    harness.store.tasks[ID] = running
    harness.failures.append(worker_report(running))
    harness.record()
    assert event_types(running, harness.task) == ["task:retry_scheduled", "task:recovery_action"]


def worker_report(task: Task) -> FailureReport:
    return replace(
        rejection_report(a_task_to_verify(), "x", at=NOW),
        run_id=run_of(task).id,
        origin=Origin.WORK,
    )


@pytest.mark.parametrize("status", sorted(set(Status) - {Status.PENDING_VERIFICATION}))
def test_only_a_task_pending_verification_can_be_approved_or_rejected(status: Status) -> None:
    task = replace(a_task_to_verify(), status=status)
    with pytest.raises(
        InvalidStateError, match=f"is {status}: only work to be verified can be approve"
    ):
        approve(task, at=NOW)
    with pytest.raises(
        InvalidStateError, match=f"is {status}: only work to be verified can be reject"
    ):
        rejection_report(task, "no", at=NOW)


def test_an_approval_is_stored() -> None:
    harness = Harness(a_task_to_verify())
    after = approve_task(harness.task, harness.approval_deps, at=NOW + HOUR)
    assert (harness.task, harness.task.status) == (after, Status.COMPLETED)
    assert harness.queue == []


def test_an_approval_enqueues_a_task_that_has_to_emit() -> None:
    harness = Harness(a_task_to_verify(capabilities=WITH_EMIT))
    approve_task(harness.task, harness.approval_deps, at=NOW + HOUR)
    assert harness.queue == [Dispatch(NOW + HOUR, ID)]


def test_an_approval_marks_its_subject_as_success() -> None:
    harness = Harness(a_task_to_verify(subject="story-1"), subject=True)
    approve_task(harness.task, harness.approval_deps, at=NOW)
    subject = harness.store.subjects.get("story-1")
    assert (subject.status, subject.failure_count) == (SubjectStatus.SUCCESS, 0)


def test_unverified_work_does_not_change_its_subject() -> None:
    assert (
        Harness(a_task_to_verify(subject="story-1"), subject=True)
        .store.subjects.get("story-1")
        .status
        is None
    )


# Rejection


def test_a_rejection_is_handled_as_a_failure_by_the_policy() -> None:
    harness = Harness(a_task_to_verify())
    harness.clock.at = NOW + HOUR
    task = reject_task(harness.task, "the link is broken", harness.failure_deps, at=NOW + HOUR)
    assert (task.status, task.retry_count, task.last_error_category) == (
        *(Status.PENDING, 1, "unknown"),
    )
    assert task.last_error == "rejected: the link is broken"
    assert task.due_at >= NOW + HOUR + timedelta(minutes=2)


def test_the_rejection_reason_precedes_the_new_guidance() -> None:
    harness = Harness(a_task_to_verify(guidance=("an older note",)))
    task = reject_task(harness.task, "the link is broken", harness.failure_deps, at=NOW)
    older, reason, advice = task.guidance
    assert (older, reason) == ("an older note", "rejected:\n> the link is broken")
    assert advice.startswith("Read the whole error message")


def test_a_policy_without_guidance_keeps_the_rejection_reason() -> None:
    harness = Harness(a_task_to_verify(policy="omega", max_retries=3))
    task = reject_task(harness.task, "the link is broken", harness.failure_deps, at=NOW)
    assert task.guidance == ("rejected:\n> the link is broken",)


@pytest.mark.parametrize("capabilities", [WITHOUT_EMIT, WITH_EMIT])
def test_rejected_work_runs_again_from_the_start(capabilities: HandlerCapabilities) -> None:
    harness = Harness(a_task_to_verify(capabilities=capabilities))
    before = run_of(harness.task).mutation
    task = reject_task(harness.task, "no", harness.failure_deps, at=NOW)
    assert (run_of(task).mutation, before.status) == (before, MutationStatus.APPLIED)
    run = run_of(claim_task(task, "run-2", at=task.due_at, capabilities=capabilities))
    assert (run.phase, run.mutation.status, run.mutation.result) == (Phase.PREPARING, None, None)
    assert (run.retry_of, run.mutation.idempotency_key, run.is_verified) == (
        "run-1",
        "run-2",
        False,
    )


@pytest.mark.parametrize("reason", ["it timed out after 30s", "budget exceeded", "HTTP 503"])
def test_a_rejection_reason_never_makes_the_outcome_indeterminate(reason: str) -> None:
    harness = Harness(a_task_to_verify())
    task = reject_task(harness.task, reason, harness.failure_deps, at=NOW)
    assert (task.status, task.recovery_action) == (Status.PENDING, "retry_with_guidance")


def test_work_rejected_on_its_last_attempt_fails() -> None:
    harness = Harness(a_task_to_verify(policy="omega", max_retries=1))
    task = reject_task(harness.task, "no", harness.failure_deps, at=NOW)
    assert (task.status, run_of(task).status) == (Status.FAILED, RunStatus.FAILED_PERMANENT)


def test_a_rejection_records_the_events_of_a_failure() -> None:
    harness = Harness(a_task_to_verify())
    before = harness.task
    task = reject_task(before, "no", harness.failure_deps, at=NOW)
    assert event_types(before, task) == ["task:retry_scheduled", "task:recovery_action"]


# The verifier


def test_a_verifier_that_approves_completes_the_task() -> None:
    harness = Harness(a_task_to_verify(**WITH_VERIFIER), Succeeded())
    assert harness.verify() is Verdict.APPROVED
    assert (harness.task.status, len(harness.verifier.tasks)) == (Status.COMPLETED, 1)


def test_a_verifier_that_rejects_reports_its_reason() -> None:
    harness = Harness(a_task_to_verify(**WITH_VERIFIER), Failed("no tests"))
    assert harness.verify() is Verdict.REJECTED
    [report] = harness.failures
    assert (report.origin, report.failure.message) == (Origin.REJECTED, "rejected: no tests")
    assert harness.task.status is Status.PENDING_VERIFICATION, "until that is recorded"
    harness.record()
    assert (harness.task.status, harness.task.guidance[0]) == (
        *(Status.PENDING, "rejected:\n> no tests"),
    )


def test_a_verifier_call_holds_a_lease_on_the_task() -> None:
    harness = Harness(a_task_to_verify(**WITH_VERIFIER), NoOutcome())
    harness.verify()
    [verifying] = harness.verifier.tasks
    assert (verifying.due_at, run_of(verifying).verifier_attempts) == (NOW + LEASE, 1)
    assert harness.task == verifying


@pytest.mark.parametrize("outcome", [NoOutcome(), OSError("no route"), KeyError("bug")])
def test_an_undecided_verifier_is_called_three_times_before_a_person_is_asked(
    outcome: Outcome | Exception,
) -> None:
    harness = Harness(a_task_to_verify(**WITH_VERIFIER), outcome)
    verdicts = []
    for _ in range(MAX_VERIFIER_ATTEMPTS + 1):
        harness.clock.at = harness.task.due_at
        verdicts.append(harness.verify())
    assert verdicts == [Verdict.OPEN] * (MAX_VERIFIER_ATTEMPTS + 1)
    assert [run_of(task).verifier_attempts for task in harness.verifier.tasks] == [1, 2, 3]
    assert (harness.task.wait_reason, harness.task.due_at) == (WaitReason.VERIFICATION, NOW + DAY)
    assert harness.failures == []


def test_an_undecided_verifier_is_called_again_when_its_lease_expires() -> None:
    harness = Harness(a_task_to_verify(**WITH_VERIFIER), NoOutcome())
    harness.verify()
    assert harness.queue == [Dispatch(NOW + LEASE, ID)]


def test_new_work_resets_the_verifier_attempts() -> None:
    harness = Harness(a_task_to_verify(**WITH_VERIFIER), Failed("no tests"))
    harness.verify()
    harness.record()
    running = claim_task(harness.task, "run-2", at=harness.task.due_at, capabilities=WITHOUT_EMIT)
    task = request_verification(
        running, REPLY, at=running.due_at, verify_until=running.due_at + DAY
    )
    assert (run_of(task).verifier_attempts, task.wait_reason) == (0, WaitReason.VERIFIER)


# Timeout


def test_work_without_a_verdict_fails_at_its_deadline() -> None:
    harness = Harness(a_task_to_verify())
    harness.clock.at = NOW + DAY
    assert harness.verify() is Verdict.EXPIRED
    before = harness.task
    harness.record()
    assert (harness.task.status, harness.task.last_error) == (
        *(Status.FAILED, "nobody approved or rejected the work in time"),
    )
    assert event_types(before, harness.task) == ["task:failed"]


def test_the_verifier_is_not_called_after_the_deadline() -> None:
    harness = Harness(a_task_to_verify(**WITH_VERIFIER), Succeeded())
    harness.clock.at = NOW + DAY
    assert (harness.verify(), harness.verifier.tasks) == (Verdict.EXPIRED, [])


def test_a_verification_timeout_keeps_the_mutation_result() -> None:
    harness = Harness(a_task_to_verify())
    harness.clock.at = NOW + DAY
    harness.verify()
    harness.record()
    run = run_of(harness.task)
    assert (run.mutation.status, run.mutation.result) == (MutationStatus.APPLIED, REPLY)


def test_a_user_retry_after_the_timeout_does_not_repeat_the_mutation() -> None:
    harness = Harness(a_task_to_verify())
    harness.clock.at = NOW + DAY
    harness.verify()
    harness.record()
    task = claim_task(
        retry(harness.task, at=NOW + DAY), "run-2", at=NOW + DAY, capabilities=WITHOUT_EMIT
    )
    run = run_of(task)
    assert (run.phase, run.mutation.status, run.is_verified) == (
        *(Phase.EMITTING, MutationStatus.APPLIED, False),
    )


def test_a_verification_timeout_advances_the_series() -> None:
    harness = Harness(a_task_to_verify(repeat="weekly"))
    harness.clock.at = NOW + DAY
    harness.verify()
    harness.record()
    assert (harness.task.status, harness.task.due_at) == (Status.PENDING, NOW + 7 * DAY)
    assert harness.task.failed_occurrences == 1


def test_a_verification_timeout_is_an_error_of_the_subject_and_changes_nothing_else() -> None:
    harness = Harness(a_task_to_verify(subject="story-1"), subject=True)
    harness.clock.at = NOW + DAY
    before = harness.store.subjects.get("story-1")
    harness.verify()
    harness.record()
    after = harness.store.subjects.get("story-1")
    assert after.recent_errors.count_since("2026-02-18") == 1
    assert replace(after, recent_errors=before.recent_errors, version=before.version) == before


# Conflicts


def test_a_late_approval_counts_until_the_timeout_is_recorded() -> None:
    harness = Harness(a_task_to_verify())
    harness.clock.at = NOW + DAY
    harness.verify()
    approve_task(harness.task, harness.approval_deps, at=NOW + DAY)
    assert harness.record() is None
    assert harness.task.status is Status.COMPLETED


def test_an_approval_after_the_recorded_timeout_is_rejected() -> None:
    harness = Harness(a_task_to_verify())
    harness.clock.at = NOW + DAY
    harness.verify()
    harness.record()
    with pytest.raises(InvalidStateError):
        approve_task(harness.task, harness.approval_deps, at=NOW + DAY)


def test_a_duplicate_message_does_not_call_the_verifier_again() -> None:
    harness = Harness(a_task_to_verify(**WITH_VERIFIER), Succeeded())
    before = harness.task
    harness.verify(before)
    assert harness.verify(before) is Verdict.CONFLICT
    assert len(harness.verifier.tasks) == 1


def test_an_approval_before_the_verifier_call_wins() -> None:
    harness = Harness(a_task_to_verify(**WITH_VERIFIER), Failed("no tests"))
    harness.write_concurrently(lambda task: approve(task, at=NOW))
    assert harness.verify() is Verdict.CONFLICT
    assert (harness.verifier.tasks, harness.failures) == ([], [])


def test_an_approval_before_the_verifiers_rejection_is_recorded_wins() -> None:
    harness = Harness(a_task_to_verify(**WITH_VERIFIER), Failed("no tests"))
    harness.verify()
    approve_task(harness.task, harness.approval_deps, at=NOW)
    assert harness.record() is None
    assert harness.task.status is Status.COMPLETED


def test_an_approval_that_conflicts_raises_and_writes_nothing() -> None:
    harness = Harness(a_task_to_verify())
    harness.write_concurrently(lambda task: cancel(task, at=NOW))
    with pytest.raises(StaleTaskError):
        approve_task(harness.task, harness.approval_deps, at=NOW)
    assert harness.task.status is Status.CANCELLED


def test_a_rejection_that_conflicts_raises_and_counts_nothing() -> None:
    harness = Harness(a_task_to_verify())
    harness.write_concurrently(lambda task: approve(task, at=NOW))
    with pytest.raises(StaleTaskError):
        reject_task(harness.task, "no", harness.failure_deps, at=NOW)
    assert (harness.task.status, harness.task.retry_count) == (Status.COMPLETED, 0)


def test_a_rejection_survives_a_concurrent_change_to_the_same_work() -> None:
    """The other writer handed the same work over to a person."""
    harness = Harness(a_task_to_verify(**WITH_VERIFIER))
    harness.write_concurrently(lambda task: hand_over_to_person(task))
    task = reject_task(harness.task, "no", harness.failure_deps, at=NOW)
    assert (task.status, task.retry_count) == (Status.PENDING, 1)


@pytest.mark.parametrize(
    "report",
    [
        rejection_report(a_task_to_verify(), "no", at=NOW),
        verification_timeout_report(a_task_to_verify(), at=NOW),
    ],
)
def test_a_verdict_applies_only_to_its_own_run(report: FailureReport) -> None:
    task = a_task_to_verify()
    other = replace(task, run=replace(run_of(task), id="run-2"))
    assert applies_to(task, report, at=NOW)
    assert not applies_to(other, report, at=NOW)
    assert not applies_to(replace(task, status=Status.IN_PROGRESS), report, at=NOW)


def test_a_worker_report_does_not_apply_to_work_pending_verification() -> None:
    task = a_task_to_verify()
    assert not applies_to(task, worker_report(task), at=NOW)


def test_cancelling_work_before_its_verdict_ends_its_run() -> None:
    task = cancel(a_task_to_verify(), at=NOW + HOUR)
    assert (task.status, run_of(task).status, run_of(task).ended_at) == (
        *(Status.CANCELLED, RunStatus.CANCELLED, NOW + HOUR),
    )
