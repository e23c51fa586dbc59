"""Record a report that comes after its run was taken for crashed."""

from __future__ import annotations

from datetime import datetime

from duecourse.domain.failures.decision import decide
from duecourse.domain.failures.failure_report import FailureReport
from duecourse.domain.failures.subject import Subject
from duecourse.domain.lifecycle.correct_run import (
    amend,
    can_settle,
    note_late,
    reopen,
    settle_failure,
    settle_success,
)
from duecourse.domain.lifecycle.current_run import current_run
from duecourse.domain.lifecycle.reclassification import subject_before_crash
from duecourse.domain.lifecycle.spec_review import build_new_review
from duecourse.domain.lifecycle.track_errors import track_correction
from duecourse.domain.lifecycle.uncounted_wait import give_up_if_expired
from duecourse.domain.tasks.task import Task
from duecourse.usecases.failures.diagnose import diagnose_with_learning
from duecourse.usecases.failures.record_failure import (
    CorrectedRun,
    FailureDeps,
    failure_context,
    policy_of,
    throttle_retry,
)
from duecourse.usecases.tasks.enqueue_if_due_soon import enqueue_if_due_soon
from duecourse.usecases.tasks.save_with_subject import save_with_subject


def correct_run(
    task: Task, report: FailureReport, deps: FailureDeps, *, now: datetime
) -> CorrectedRun | None:
    """Correct the run that the report names; None if it has been corrected before.

    The task follows the report unless something else happened to it since. Raises StaleTaskError if
    the task has changed meanwhile.
    """
    if not can_settle(task, report):
        return _amend(task, report, deps)
    settled = (
        _settle_success(task, report, deps, now=now)
        if report.is_finished
        else _settle_failure(task, report, deps, now=now)
    )
    enqueue_if_due_soon(settled.next_task, queue=deps.queue, now=now)
    return settled


def _amend(task: Task, report: FailureReport, deps: FailureDeps) -> CorrectedRun | None:
    # A newer run stands, and may be running.
    is_last = task.run_id == report.run_id
    after = amend(task, report) if is_last else note_late(task, report)
    if after is task:
        return None
    deps.store.save(task, after)
    return CorrectedRun(after)


def _settle_success(
    task: Task, report: FailureReport, deps: FailureDeps, *, now: datetime
) -> CorrectedRun:
    after = settle_success(task, report, at=now)
    ended_at = current_run(task).ended_or_started_at

    def correct(subject: Subject | None) -> CorrectedRun:
        before = subject_before_crash(task, subject)
        succeeded = before.record_success(at=report.failed_at) if before else None
        tracked, to_save = track_correction(after, subject, succeeded, at=ended_at)
        return CorrectedRun(tracked, to_save, is_settled=True)

    return save_with_subject(
        task, correct, store=deps.store, subjects=deps.subjects, backoff=deps.backoff
    )


def _settle_failure(
    task: Task, report: FailureReport, deps: FailureDeps, *, now: datetime
) -> CorrectedRun:
    reopened, policy = reopen(task), policy_of(task, deps.policies)
    report = give_up_if_expired(reopened, report, limit=deps.max_uncounted_wait)
    learned = diagnose_with_learning(task, report, policy, deps.learning, now=now)
    ended_at = current_run(task).ended_or_started_at

    def correct(subject: Subject | None) -> CorrectedRun:
        before = subject_before_crash(task, subject)
        context = failure_context(reopened, report, before, learned.retry_outcomes)
        decision = decide(report.failure, learned.diagnosis, policy, context)
        decision = throttle_retry(decision, task, deps, now=now)
        after = settle_failure(task, report, learned.diagnosis, decision, at=now)
        after, to_save = track_correction(after, subject, decision.subject, at=ended_at)
        return CorrectedRun(after, to_save, build_new_review(task, after), is_settled=True)

    return save_with_subject(
        task, correct, store=deps.store, subjects=deps.subjects, backoff=deps.backoff
    )
