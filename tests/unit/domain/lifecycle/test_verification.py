"""Work that waits for a verdict: who is asked and when, and what comes of each answer."""

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
from duecourse.usecases.failures.record_failure import RecordedFailure, record_failure
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

ASKS = HandlerCapabilities(has_prepare=True, indeterminate_policy=IndeterminatePolicy.ASK_PERSON)
TELLS = HandlerCapabilities(
    has_prepare=True, has_emit=True, indeterminate_policy=IndeterminatePolicy.ASK_PERSON
)
REPLY = {"reply": "Mended."}
WITH_VERIFIER: dict[str, Any] = {
    "payload": {"provider": "scripted", "verifier": {"provider": "scripted"}}
}


def done(*, capabilities: HandlerCapabilities = ASKS, **fields: Any) -> Task:
    """An action that was carried out just now, and is to be looked at within a day."""
    task = claim_task(an_action(verify=True, **fields), capabilities=capabilities)
    return request_verification(task, REPLY, at=NOW, verify_until=NOW + DAY)


def kinds(old: Task, new: Task) -> list[str]:
    return [event.type for event in events_between(old, new, at=NOW)]


class Bench:
    """One task, those who judge it, and whoever records what they said."""

    def __init__(
        self, task: Task, found: Outcome | Exception | None = None, *, subject: bool = False
    ) -> None:
        subjects = MemorySubjects(a_subject(failure_count=2, version=1) if subject else a_subject())
        self.store = MemoryStore(task, subjects=subjects)
        self.queue = ListQueue()
        self.failures = ListFailures()
        self.clock = ManualClock(NOW)
        self.judge = ScriptedVerifier(found)
        self.book = ApprovalDeps(self.store, self.store.subjects, self.queue)
        self.recorder = failure_deps(self.store, queue=self.queue, clock=self.clock)

    @property
    def task(self) -> Task:
        return self.store.get(ID)

    def verify(self, task: Task | None = None) -> Verdict:
        court = verification_deps(self.store, self.queue, self.failures, self.clock, self.judge)
        return verify_task(task or self.task, court)

    def record(self) -> RecordedFailure | None:
        return record_failure(self.failures.pop(), self.recorder)

    def meanwhile(self, change: Callable[[Task], Task]) -> None:
        """Somebody else writes just before our next write."""
        theirs = change(self.task)
        self.store.concurrent_writes = [lambda: self.store.tasks.update({ID: theirs})]


# What waits, and for whom


def test_work_that_was_done_waits_a_day_for_a_person() -> None:
    task = done()
    assert (task.status, task.wait_reason) == (Status.PENDING_VERIFICATION, WaitReason.VERIFICATION)
    assert (task.due_at, run_of(task).verify_until) == (NOW + DAY, NOW + DAY)


def test_a_verifier_is_asked_at_once() -> None:
    task = done(**WITH_VERIFIER)
    assert (task.due_at, task.wait_reason) == (NOW, WaitReason.VERIFIER)
    assert run_of(task).verify_until == NOW + DAY


def test_the_run_that_waits_is_not_over_and_keeps_its_result() -> None:
    run = run_of(done())
    assert (run.status, run.ended_at) == (RunStatus.PAUSED_APPROVAL, None)
    assert (run.phase, run.mutation.status, run.mutation.result) == (
        *(Phase.MUTATED, MutationStatus.APPLIED, REPLY),
    )


@pytest.mark.parametrize("named", [None, "scripted", ["scripted"], 1])
def test_what_names_no_provider_is_no_verifier(named: Any) -> None:
    assert verifier_payload(an_action(payload={"verifier": named})) is None


@pytest.mark.parametrize(
    ("at", "overdue"),
    [(NOW + DAY - MILLISECOND, False), (NOW + DAY, True), (NOW + DAY + MILLISECOND, True)],
)
def test_a_verdict_is_awaited_until_its_time_is_up(at: datetime, overdue: bool) -> None:
    assert is_verification_overdue(done(), at=at) is overdue


def test_a_request_for_a_verdict_is_told_for_each_who_is_asked() -> None:
    running = claim_task(an_action(verify=True, **WITH_VERIFIER), capabilities=ASKS)
    waiting = request_verification(running, REPLY, at=NOW, verify_until=NOW + DAY)
    asked = begin_verifier_attempt(waiting, at=NOW, lease=LEASE)
    assert asked is not None
    assert kinds(running, waiting) == ["task:verification_requested"]
    assert kinds(waiting, asked) == []
    assert kinds(asked, hand_over_to_person(asked)) == ["task:verification_requested"]


# Yes


def test_approved_work_is_completed_with_its_result() -> None:
    task = approve(done(), at=NOW + HOUR)
    assert (task.status, task.delivered_at, task.wait_reason) == (
        *(Status.COMPLETED, NOW + HOUR, None),
    )
    run = run_of(task)
    assert (run.status, run.ended_at, run.mutation.result) == (
        *(RunStatus.COMMITTED, NOW + HOUR, REPLY),
    )


def test_approved_work_of_a_series_leads_to_its_next_occurrence() -> None:
    task = approve(done(repeat="daily"), at=NOW + HOUR)
    assert (task.status, task.due_at, task.nominal_at) == (Status.PENDING, NOW + DAY, NOW + DAY)
    assert (task.wait_reason, task.retry_count) == (None, 0)


def test_approved_work_that_others_are_told_of_is_due_at_once() -> None:
    task = approve(done(capabilities=TELLS), at=NOW + HOUR)
    run = run_of(task)
    assert (task.status, task.due_at, task.wait_reason) == (Status.PENDING, NOW + HOUR, None)
    assert (run.is_verified, run.status, run.ended_at) == (
        *(True, RunStatus.PAUSED_APPROVAL, NOW + HOUR),
    )


def test_an_approval_is_told_before_what_follows() -> None:
    before = done()
    assert kinds(before, approve(before, at=NOW)) == ["task:approved", "task:completed"]
    before = done(capabilities=TELLS)
    assert kinds(before, approve(before, at=NOW)) == ["task:approved"]


def test_a_failure_to_tell_of_approved_work_is_told() -> None:
    """It was verified; that does not make its failures good news."""
    harness = Bench(approve(done(capabilities=TELLS), at=NOW))
    running = claim_task(harness.task, "run-2", capabilities=TELLS)
    harness.store.tasks[ID] = running
    harness.failures.append(reported_by_its_worker(running))
    harness.record()
    assert kinds(running, harness.task) == ["task:retry_scheduled", "task:recovery_action"]


def reported_by_its_worker(task: Task) -> FailureReport:
    return replace(
        rejection_report(done(), "x", at=NOW), run_id=run_of(task).id, origin=Origin.WORK
    )


@pytest.mark.parametrize("status", sorted(set(Status) - {Status.PENDING_VERIFICATION}))
def test_only_work_that_waits_for_a_verdict_gets_one(status: Status) -> None:
    task = replace(done(), status=status)
    with pytest.raises(
        InvalidStateError, match=f"is {status}: only work to be verified can be approve"
    ):
        approve(task, at=NOW)
    with pytest.raises(
        InvalidStateError, match=f"is {status}: only work to be verified can be reject"
    ):
        rejection_report(task, "no", at=NOW)


def test_an_approval_is_written_down() -> None:
    harness = Bench(done())
    after = approve_task(harness.task, harness.book, at=NOW + HOUR)
    assert (harness.task, harness.task.status) == (after, Status.COMPLETED)
    assert harness.queue == []


def test_an_approval_sends_what_has_to_be_told_at_once() -> None:
    harness = Bench(done(capabilities=TELLS))
    approve_task(harness.task, harness.book, at=NOW + HOUR)
    assert harness.queue == [Dispatch(NOW + HOUR, ID)]


def test_an_approval_is_a_success_of_its_subject() -> None:
    harness = Bench(done(subject="story-1"), subject=True)
    approve_task(harness.task, harness.book, at=NOW)
    subject = harness.store.subjects.get("story-1")
    assert (subject.status, subject.failure_count) == (SubjectStatus.SUCCESS, 0)


def test_work_that_is_done_says_nothing_about_its_subject_yet() -> None:
    assert Bench(done(subject="story-1"), subject=True).store.subjects.get("story-1").status is None


# No


def test_a_rejection_is_a_failure_of_its_policy() -> None:
    harness = Bench(done())
    harness.clock.at = NOW + HOUR
    task = reject_task(harness.task, "the link is broken", harness.recorder, at=NOW + HOUR)
    assert (task.status, task.retry_count, task.last_error_category) == (
        *(Status.PENDING, 1, "unknown"),
    )
    assert task.last_error == "rejected: the link is broken"
    assert task.due_at >= NOW + HOUR + timedelta(minutes=2)


def test_why_it_was_rejected_comes_first_in_the_guidance() -> None:
    harness = Bench(done(guidance=("an older note",)))
    task = reject_task(harness.task, "the link is broken", harness.recorder, at=NOW)
    older, reason, advice = task.guidance
    assert (older, reason) == ("an older note", "rejected: the link is broken")
    assert advice.startswith("Read the whole error message")


def test_why_it_was_rejected_is_kept_by_a_policy_without_guidance() -> None:
    harness = Bench(done(policy="omega", max_retries=3))
    task = reject_task(harness.task, "the link is broken", harness.recorder, at=NOW)
    assert task.guidance == ("rejected: the link is broken",)


@pytest.mark.parametrize("capabilities", [ASKS, TELLS])
def test_rejected_work_is_done_afresh(capabilities: HandlerCapabilities) -> None:
    harness = Bench(done(capabilities=capabilities))
    task = reject_task(harness.task, "no", harness.recorder, at=NOW)
    assert run_of(task).mutation.status is MutationStatus.FAILED
    run = run_of(claim_task(task, "run-2", at=task.due_at, capabilities=capabilities))
    assert (run.phase, run.mutation.status, run.mutation.result) == (Phase.PREPARING, None, None)
    assert (run.retry_of, run.mutation.idempotency_key, run.is_verified) == (
        "run-1",
        "run-2",
        False,
    )


@pytest.mark.parametrize("reason", ["it timed out after 30s", "budget exceeded", "HTTP 503"])
def test_the_words_of_a_person_ask_nobody_whether_it_happened(reason: str) -> None:
    harness = Bench(done())
    task = reject_task(harness.task, reason, harness.recorder, at=NOW)
    assert (task.status, task.recovery_action) == (Status.PENDING, "retry_with_guidance")


def test_work_that_is_rejected_too_often_is_given_up_by_its_policy() -> None:
    harness = Bench(done(policy="omega", max_retries=1))
    task = reject_task(harness.task, "no", harness.recorder, at=NOW)
    assert (task.status, run_of(task).status) == (Status.FAILED, RunStatus.FAILED_PERMANENT)


def test_a_rejection_is_told_as_the_failure_it_is() -> None:
    harness = Bench(done())
    before = harness.task
    task = reject_task(before, "no", harness.recorder, at=NOW)
    assert kinds(before, task) == ["task:retry_scheduled", "task:recovery_action"]


# The verifier


def test_a_verifier_that_says_yes_completes_the_work() -> None:
    harness = Bench(done(**WITH_VERIFIER), Succeeded())
    assert harness.verify() is Verdict.APPROVED
    assert (harness.task.status, len(harness.judge.tasks)) == (Status.COMPLETED, 1)


def test_a_verifier_that_says_no_reports_its_reason() -> None:
    harness = Bench(done(**WITH_VERIFIER), Failed("no tests"))
    assert harness.verify() is Verdict.REJECTED
    [report] = harness.failures
    assert (report.origin, report.failure.message) == (Origin.REJECTED, "rejected: no tests")
    assert harness.task.status is Status.PENDING_VERIFICATION, "until that is recorded"
    harness.record()
    assert (harness.task.status, harness.task.guidance[0]) == (
        *(Status.PENDING, "rejected: no tests"),
    )


def test_while_the_verifier_is_asked_others_leave_it_alone() -> None:
    harness = Bench(done(**WITH_VERIFIER), NoOutcome())
    harness.verify()
    [asked] = harness.judge.tasks
    assert (asked.due_at, run_of(asked).verifier_attempts) == (NOW + LEASE, 1)
    assert harness.task == asked


@pytest.mark.parametrize("found", [NoOutcome(), OSError("no route"), KeyError("bug")])
def test_a_verifier_that_decides_nothing_is_asked_three_times_and_then_a_person(
    found: Outcome | Exception,
) -> None:
    harness = Bench(done(**WITH_VERIFIER), found)
    verdicts = []
    for _ in range(MAX_VERIFIER_ATTEMPTS + 1):
        harness.clock.at = harness.task.due_at
        verdicts.append(harness.verify())
    assert verdicts == [Verdict.OPEN] * (MAX_VERIFIER_ATTEMPTS + 1)
    assert [run_of(task).verifier_attempts for task in harness.judge.tasks] == [1, 2, 3]
    assert (harness.task.wait_reason, harness.task.due_at) == (WaitReason.VERIFICATION, NOW + DAY)
    assert harness.failures == []


def test_a_verifier_that_decided_nothing_is_asked_again_when_its_lease_is_over() -> None:
    harness = Bench(done(**WITH_VERIFIER), NoOutcome())
    harness.verify()
    assert harness.queue == [Dispatch(NOW + LEASE, ID)]


def test_a_verifier_is_asked_anew_about_new_work() -> None:
    harness = Bench(done(**WITH_VERIFIER), Failed("no tests"))
    harness.verify()
    harness.record()
    again = claim_task(harness.task, "run-2", at=harness.task.due_at, capabilities=ASKS)
    task = request_verification(again, REPLY, at=again.due_at, verify_until=again.due_at + DAY)
    assert (run_of(task).verifier_attempts, task.wait_reason) == (0, WaitReason.VERIFIER)


# Nobody


def test_where_nobody_said_anything_in_time_it_fails_for_good() -> None:
    harness = Bench(done())
    harness.clock.at = NOW + DAY
    assert harness.verify() is Verdict.EXPIRED
    before = harness.task
    harness.record()
    assert (harness.task.status, harness.task.last_error) == (
        *(Status.FAILED, "nobody approved or rejected the work in time"),
    )
    assert kinds(before, harness.task) == ["task:failed"]


def test_a_verifier_is_not_asked_when_the_time_is_up() -> None:
    harness = Bench(done(**WITH_VERIFIER), Succeeded())
    harness.clock.at = NOW + DAY
    assert (harness.verify(), harness.judge.tasks) == (Verdict.EXPIRED, [])


def test_what_was_not_looked_at_in_time_keeps_its_effect() -> None:
    harness = Bench(done())
    harness.clock.at = NOW + DAY
    harness.verify()
    harness.record()
    run = run_of(harness.task)
    assert (run.mutation.status, run.mutation.result) == (MutationStatus.APPLIED, REPLY)


def test_a_person_who_retries_it_is_asked_again_and_it_is_not_done_again() -> None:
    harness = Bench(done())
    harness.clock.at = NOW + DAY
    harness.verify()
    harness.record()
    task = claim_task(retry(harness.task, at=NOW + DAY), "run-2", at=NOW + DAY, capabilities=ASKS)
    run = run_of(task)
    assert (run.phase, run.mutation.status, run.is_verified) == (
        *(Phase.EMITTING, MutationStatus.APPLIED, False),
    )


def test_a_series_goes_on_when_nobody_looked_at_one_of_its_occurrences() -> None:
    harness = Bench(done(repeat="weekly"))
    harness.clock.at = NOW + DAY
    harness.verify()
    harness.record()
    assert (harness.task.status, harness.task.due_at) == (Status.PENDING, NOW + 7 * DAY)
    assert harness.task.failed_occurrences == 1


def test_silence_says_nothing_about_the_subject() -> None:
    harness = Bench(done(subject="story-1"), subject=True)
    harness.clock.at = NOW + DAY
    before = harness.store.subjects.get("story-1")
    harness.verify()
    harness.record()
    assert harness.store.subjects.get("story-1") == before


# Races


def test_a_late_approval_counts_until_the_silence_is_recorded() -> None:
    harness = Bench(done())
    harness.clock.at = NOW + DAY
    harness.verify()
    approve_task(harness.task, harness.book, at=NOW + DAY)
    assert harness.record() is None
    assert harness.task.status is Status.COMPLETED


def test_an_approval_that_comes_after_the_silence_is_recorded_is_refused() -> None:
    harness = Bench(done())
    harness.clock.at = NOW + DAY
    harness.verify()
    harness.record()
    with pytest.raises(InvalidStateError):
        approve_task(harness.task, harness.book, at=NOW + DAY)


def test_two_messages_have_the_verifier_asked_once() -> None:
    harness = Bench(done(**WITH_VERIFIER), Succeeded())
    before = harness.task
    harness.verify(before)
    assert harness.verify(before) is Verdict.CONFLICT
    assert len(harness.judge.tasks) == 1


def test_a_person_who_was_faster_than_the_question_has_the_say() -> None:
    harness = Bench(done(**WITH_VERIFIER), Failed("no tests"))
    harness.meanwhile(lambda task: approve(task, at=NOW))
    assert harness.verify() is Verdict.CONFLICT
    assert (harness.judge.tasks, harness.failures) == ([], [])


def test_a_person_who_was_faster_than_the_verifiers_no_has_the_say() -> None:
    harness = Bench(done(**WITH_VERIFIER), Failed("no tests"))
    harness.verify()
    approve_task(harness.task, harness.book, at=NOW)
    assert harness.record() is None
    assert harness.task.status is Status.COMPLETED


def test_an_approval_that_lost_a_race_says_so_and_writes_nothing() -> None:
    harness = Bench(done())
    harness.meanwhile(lambda task: cancel(task, at=NOW))
    with pytest.raises(StaleTaskError):
        approve_task(harness.task, harness.book, at=NOW)
    assert harness.task.status is Status.CANCELLED


def test_a_rejection_that_lost_a_race_says_so_and_counts_nothing() -> None:
    harness = Bench(done())
    harness.meanwhile(lambda task: approve(task, at=NOW))
    with pytest.raises(StaleTaskError):
        reject_task(harness.task, "no", harness.recorder, at=NOW)
    assert (harness.task.status, harness.task.retry_count) == (Status.COMPLETED, 0)


def test_a_rejection_outlives_a_harmless_change_at_the_same_moment() -> None:
    """The verifier was asked meanwhile: the same work still waits."""
    harness = Bench(done(**WITH_VERIFIER))
    harness.meanwhile(lambda task: hand_over_to_person(task))
    task = reject_task(harness.task, "no", harness.recorder, at=NOW)
    assert (task.status, task.retry_count) == (Status.PENDING, 1)


@pytest.mark.parametrize(
    "report", [rejection_report(done(), "no", at=NOW), verification_timeout_report(done(), at=NOW)]
)
def test_a_verdict_concerns_only_the_work_it_is_about(report: FailureReport) -> None:
    task = done()
    other = replace(task, run=replace(run_of(task), id="run-2"))
    assert applies_to(task, report, at=NOW)
    assert not applies_to(other, report, at=NOW)
    assert not applies_to(replace(task, status=Status.IN_PROGRESS), report, at=NOW)


def test_what_a_worker_reports_of_work_that_waits_for_a_verdict_concerns_nobody() -> None:
    task = done()
    assert not applies_to(task, reported_by_its_worker(task), at=NOW)


def test_work_that_is_called_off_before_its_verdict_ends_its_run() -> None:
    task = cancel(done(), at=NOW + HOUR)
    assert (task.status, run_of(task).status, run_of(task).ended_at) == (
        *(Status.CANCELLED, RunStatus.CANCELLED, NOW + HOUR),
    )
