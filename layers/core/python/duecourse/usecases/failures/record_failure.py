"""Record a failure: diagnose it, decide what to do, and save both in one transaction."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from duecourse.domain.errors import StaleTaskError, UnknownTaskError
from duecourse.domain.failures.adaptive_backoff import RetryOutcomesByDelay
from duecourse.domain.failures.decision import Decision, decide
from duecourse.domain.failures.diagnosis import Diagnosis
from duecourse.domain.failures.failure_context import FailureContext
from duecourse.domain.failures.failure_report import FailureReport
from duecourse.domain.failures.policy import Policy
from duecourse.domain.failures.subject import Subject
from duecourse.domain.lifecycle.apply_failure import (
    applies_to,
    apply_failure,
    is_human_required,
    is_indeterminate,
)
from duecourse.domain.lifecycle.correct_run import is_late
from duecourse.domain.lifecycle.current_run import current_run
from duecourse.domain.lifecycle.spec_review import build_new_review, build_review, can_be_reviewed
from duecourse.domain.lifecycle.track_errors import track_error
from duecourse.domain.lifecycle.uncounted_wait import give_up_if_expired
from duecourse.domain.limits.breaker_results import ProviderFailure
from duecourse.domain.limits.budget import next_reset
from duecourse.domain.origin import Origin
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import Wait, WaitReason
from duecourse.domain.time.instant import truncate_to_millisecond
from duecourse.ports.queues import WorkQueue
from duecourse.ports.runtime import Backoff, Clock
from duecourse.ports.tasks import Subjects, TaskStore
from duecourse.usecases.failures.access_pause import (
    can_wait_for_channel,
    find_access_wait,
    is_key_refused,
    wait_for_access,
)
from duecourse.usecases.failures.diagnose import LearningDeps, diagnose_with_learning
from duecourse.usecases.failures.throttle_retry import RetryThrottle
from duecourse.usecases.follow_up import run_follow_up
from duecourse.usecases.limits.circuit_breaker import BreakerDeps, record_down, record_reached
from duecourse.usecases.retry_on_conflict import retry_on_conflict
from duecourse.usecases.tasks.enqueue_if_due_soon import enqueue_if_due_soon
from duecourse.usecases.tasks.save_with_subject import TaskChange, save_with_subject

MAX_ATTEMPTS = 3


@dataclass(frozen=True)
class FailureDeps:
    store: TaskStore
    subjects: Subjects
    queue: WorkQueue
    breakers: BreakerDeps
    policies: Mapping[str, Policy]
    clock: Clock
    throttle: RetryThrottle
    learning: LearningDeps
    max_uncounted_wait: timedelta
    backoff: Backoff = lambda _: None


@dataclass(frozen=True, kw_only=True)
class RecordedFailure(TaskChange):
    """`follow_up_error`: what went wrong after the failure was recorded, which it remains."""

    diagnosis: Diagnosis
    decision: Decision
    follow_up_error: str | None = None


@dataclass(frozen=True)
class CorrectedRun(TaskChange):
    """`is_settled`: the task follows the late report, too. Otherwise only the run was corrected."""

    is_settled: bool = False


def record_failure(
    report: FailureReport, deps: FailureDeps
) -> RecordedFailure | CorrectedRun | None:
    """Record the failure; return None if the report no longer applies.

    A report that comes after its run was taken for crashed corrects that run. A report delivered
    twice counts once. A report about a deleted task is dropped: nothing may be stored about it.
    Raises StaleTaskError after repeated conflicts.
    """
    with suppress(StaleTaskError):
        if (recorded := _record_peeked(report, deps)) is not None:
            return recorded
    try:
        return retry_on_conflict(
            lambda _: _record_if_applicable(report, deps),
            conflict=StaleTaskError,
            max_attempts=MAX_ATTEMPTS,
        )
    except UnknownTaskError:
        return None


def _record_peeked(report: FailureReport, deps: FailureDeps) -> RecordedFailure | None:
    """Record the failure after a cheap read; None if that read shows nothing to record.

    It may be outdated. Raises StaleTaskError if the task has changed since.
    """
    task = deps.store.peek(report.task_id)
    now = truncate_to_millisecond(deps.clock.now())
    if task is None or not applies_to(task, report, at=now):
        return None
    return _record(task, report, deps, now=now)


def _record_if_applicable(
    report: FailureReport, deps: FailureDeps
) -> RecordedFailure | CorrectedRun | None:
    task = deps.store.get(report.task_id)
    now = truncate_to_millisecond(deps.clock.now())
    if applies_to(task, report, at=now):
        return _record(task, report, deps, now=now)
    if is_late(task, report):
        # Here, because few reports are late.
        from duecourse.usecases.failures.correct_run import correct_run

        if (corrected := correct_run(task, report, deps, now=now)) is not None:
            return corrected
    # The process that recorded it may have crashed before it could enqueue what runs next.
    enqueue_if_due_soon(build_review(task) or task, queue=deps.queue, now=now)
    return None


def _record(
    task: Task, report: FailureReport, deps: FailureDeps, *, now: datetime
) -> RecordedFailure:
    policy = policy_of(task, deps.policies)
    report = give_up_if_expired(task, report, limit=deps.max_uncounted_wait)
    learned = diagnose_with_learning(task, report, policy, deps.learning, now=now)
    diagnosis = learned.diagnosis
    access_wait = find_access_wait(
        task, report, diagnosis, breakers=deps.breakers, max_wait=deps.max_uncounted_wait, now=now
    )

    def decide_and_apply(subject: Subject | None) -> RecordedFailure:
        context = failure_context(
            task,
            report,
            subject,
            learned.retry_outcomes,
            is_access_paused=access_wait is not None,
        )
        decision = decide(report.failure, diagnosis, policy, context)
        decision = wait_for_access(decision, access_wait) or throttle_retry(
            decision, task, deps, now=now
        )
        after = apply_failure(task, report, diagnosis, decision, at=now)
        after, tracked_subject = track_error(after, subject, decision.subject)
        return RecordedFailure(
            after,
            tracked_subject,
            build_new_review(task, after),
            diagnosis=diagnosis,
            decision=decision,
        )

    recorded = save_with_subject(
        task, decide_and_apply, store=deps.store, subjects=deps.subjects, backoff=deps.backoff
    )
    enqueue_if_due_soon(recorded.next_task, queue=deps.queue, now=now)
    error = run_follow_up(lambda: _report_to_breaker(task, report, recorded, deps, now=now))
    return replace(recorded, follow_up_error=error)


def _report_to_breaker(
    task: Task,
    report: FailureReport,
    recorded: RecordedFailure,
    deps: FailureDeps,
    *,
    now: datetime,
) -> None:
    """Report the failure to the provider's breaker, if it says anything about the provider.

    Any response shows that the provider is up. A crash, or a call that was not made, shows nothing.
    """
    breakers, started_at = deps.breakers, current_run(task).started_at
    decision = recorded.decision
    is_provider_result = report.origin in (Origin.WORK, Origin.ANSWER) and decision.is_counted
    is_recorded = is_key_refused(report, recorded.diagnosis)  # before the failure was
    if task.provider is None or not is_provider_result or is_recorded:
        return
    if report.origin is Origin.WORK and decision.category.trips_breaker:
        failure = ProviderFailure(started_at, report.failed_at)
        reached_at = report.provider_reached_at
        record_down(task.provider, failure, reached_at=reached_at, breakers=breakers, now=now)
    else:
        # Another container may have started the probe: what this one last read may be old.
        read = breakers.store.get_cached(task.provider)
        record_reached(task.provider, read, started_at=started_at, breakers=breakers, now=now)


def policy_of(task: Task, policies: Mapping[str, Policy]) -> Policy:
    """Return the task's policy, or "omega" if the policy no longer exists."""
    return policies.get(task.policy) or policies["omega"]


def failure_context(
    task: Task,
    report: FailureReport,
    subject: Subject | None,
    retry_outcomes: RetryOutcomesByDelay,
    *,
    is_access_paused: bool = False,
) -> FailureContext:
    return FailureContext(
        retry_count=task.retry_count,
        max_retries=task.max_retries,
        failed_at=report.failed_at,
        budget_resets_at=next_reset(report.failed_at),
        first_failed_at=current_run(task).first_failed_at,
        attempt=current_run(task).attempt,
        jitter_seed=f"{task.id}:{current_run(task).attempt}",
        has_spec=can_be_reviewed(task),
        subject=subject,
        origin=report.origin,
        is_human_required=is_human_required(task, report),
        is_indeterminate=is_indeterminate(task, report),
        is_access_paused=is_access_paused or can_wait_for_channel(task, report),
        budget=task.payload.get("budget"),
        is_over_budget=report.is_over_budget,
        is_wait_expired=report.is_wait_expired,
        retry_outcomes=retry_outcomes,
    )


def throttle_retry(decision: Decision, task: Task, deps: FailureDeps, *, now: datetime) -> Decision:
    """Delay the retry of the task if too many retries are due at that time."""
    if decision.due_at is None or decision.action is Action.WAIT_FOR_BUDGET:
        return decision
    due_at = deps.throttle.find_time(task, decision.due_at, now=now)
    if due_at == decision.due_at:
        return decision
    detail = {"limit": deps.throttle.limit.pending}
    wait = Wait(WaitReason.RETRY_THROTTLE, until=due_at, detail=detail)
    return replace(decision, due_at=due_at, wait=wait)
