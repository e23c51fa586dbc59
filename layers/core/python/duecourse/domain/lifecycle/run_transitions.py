"""Transitions of a task around one run: claim, advance, commit, defer, requeue.

Failures are in `apply_failure`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from duecourse.domain.errors import IllegalTransitionError
from duecourse.domain.lifecycle.advance_series import (
    advance_series,
    missed_occurrences,
    waited_too_long_for,
)
from duecourse.domain.lifecycle.spec_review import is_reviewed
from duecourse.domain.origin import Effect
from duecourse.domain.tasks.handler import HandlerCapabilities
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run import (
    IndeterminatePolicy,
    Mutation,
    MutationStatus,
    Phase,
    PreviousFailure,
    Reason,
    Run,
    RunStatus,
)
from duecourse.domain.tasks.run_diagnosis import RunDiagnosis
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import Wait, WaitReason
from duecourse.domain.time.instant import truncate_to_millisecond

REPORT_GRACE_PERIOD = timedelta(minutes=2)  # until the queue redelivers the report
_REASON_BY_STATUS = {
    RunStatus.CRASHED: Reason.CRASHED_RECOVERY,
    RunStatus.PAUSED_TRANSIENT: Reason.TRANSIENT,
    RunStatus.PAUSED_BUDGET: Reason.TRANSIENT,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Lease:
    """The right of one worker to run the task until `expires_at`, with its code version."""

    run_id: str
    expires_at: datetime
    handler_version: str


def claim(task: Task, lease: Lease, capabilities: HandlerCapabilities, *, at: datetime) -> Task:
    """Move the task to in_progress under `lease` and start a new run.

    If the handler has no `prepare`, the same write records the mutation as in flight. Raises
    IllegalTransitionError if the task is already in progress.
    """
    if task.status is Status.IN_PROGRESS:
        raise IllegalTransitionError(task.short_id, task.status, Status.IN_PROGRESS)
    before = retryable_run(task)
    reason = _run_reason(task, before, lease)
    run = Run(
        id=lease.run_id,
        attempt=before.attempt + 1 if before else 1,
        retry_of=before.id if before else None,
        reason=reason,
        mutation=Mutation(idempotency_key=_reusable_key(before) or lease.run_id),
        nominal_at=before.nominal_at if before else task.nominal_at,
        started_at=at,
        lease_expires_at=lease.expires_at,
        handler_version=lease.handler_version,
        indeterminate_policy=capabilities.indeterminate_policy,
        has_emit=capabilities.has_emit,
        is_early=_is_off_schedule(task, before),
        previous_failure=find_previous_failure(task, before, at=at) if before else None,
        waited_for=(before.waited_for if before else None) or waited_too_long_for(task),
        originally_due_at=_find_originally_due_at(task, before, reason),
    )
    run = _resume_phase(run, before, capabilities)
    mine = replace(task, run=run, next_retry_at=None, skipped=None, wait=None)
    return mine.move_to(Status.IN_PROGRESS)


def _find_originally_due_at(task: Task, previous: Run | None, reason: Reason) -> datetime | None:
    """Return when the task was first due if this run only recovers from a crash, else None.

    None too if the task also waited for something else, such as a person or quiet hours.
    """
    came_by_itself = task.next_retry_at is not None and task.wait is None
    is_recovery = reason is Reason.CRASHED_RECOVERY and came_by_itself
    return previous.originally_due_at if previous is not None and is_recovery else None


def _is_off_schedule(task: Task, previous: Run | None) -> bool:
    """Return True if the run was requested early or makes up for an earlier occurrence."""
    is_late = previous is not None and previous.nominal_at < task.nominal_at
    return is_late or task.due_at < task.nominal_at


def _reusable_key(previous: Run | None) -> str | None:
    """Return the idempotency key of `previous`, or None to start with a new key.

    All attempts at an occurrence share one key. Rejected work gets a new key because it has to be
    done again.
    """
    if previous is None or (previous.verify_until is not None and not previous.is_applied):
        return None
    return previous.mutation.idempotency_key


def _resume_phase(run: Run, previous: Run | None, capabilities: HandlerCapabilities) -> Run:
    """Set the phase in which the run starts.

    An applied mutation is never repeated: the run starts at emit. An indeterminate one is
    reconciled first, unless the handler's policy allows repeating it.
    """
    if previous is not None and previous.is_applied:
        return replace(
            run,
            phase=Phase.EMITTING,
            mutation=previous.mutation,
            prepare_result=previous.prepare_result,
            is_early=previous.is_early,
            is_verified=previous.is_verified,
        )
    if (
        previous is not None
        and previous.is_indeterminate
        and capabilities.indeterminate_policy is not IndeterminatePolicy.REPEAT
    ):
        doubtful = run.with_mutation_status(MutationStatus.INDETERMINATE)
        return replace(doubtful, phase=Phase.MUTATING, prepare_result=previous.prepare_result)
    return run if capabilities.has_prepare else run.mark_in_flight()


def advance(task: Task, run: Run) -> Task:
    """Store the run's progress. The task stays in progress."""
    return replace(task, run=run).move_to(Status.IN_PROGRESS)


def commit(task: Task, result: Any, *, at: datetime) -> Task:
    """End the run as successful: a one-shot task is done, a series moves to its next occurrence."""
    done = replace(
        task,
        run=current_run(task).mark_applied(result).commit(at=at),
        delivered_at=at,
        failed_occurrences=0,
        wait=None,
    )
    following = advance_series(task, done, at=at)
    return following or replace(done, skipped=missed_occurrences(task, until=at)).move_to(
        _done_status(task)
    )


def defer(task: Task, *, until: datetime, wait: Wait) -> Task:
    """Postpone the task to `until` without an attempt. No retry is counted."""
    until = truncate_to_millisecond(until)
    next_retry_at = until if task.next_retry_at else None
    deferred = replace(task, due_at=until, next_retry_at=next_retry_at, wait=wait, skipped=None)
    return deferred.move_to(Status.PENDING)


def requeue(task: Task, error: str, category: str, *, at: datetime) -> Task:
    """Make the task due again after its queue message was dead-lettered before a worker claimed it.

    No retry is counted.
    """
    due_at = max(task.due_at, at)
    requeued = replace(
        task,
        due_at=due_at,
        next_retry_at=due_at if task.next_retry_at else None,
        last_error=error,
        last_error_category=category,
        skipped=None,
        wait=Wait(WaitReason.REQUEUED),
    )
    return requeued.move_to(Status.PENDING)


def lease_expired(task: Task, *, at: datetime) -> bool:
    """Return True if the task is in progress and its lease has expired.

    If a person would be asked about an unknown effect, REPORT_GRACE_PERIOD is added first, so that
    a delayed report of the worker can still arrive. A task in progress without a run counts as
    expired.
    """
    if task.status is not Status.IN_PROGRESS or task.run is None:
        return task.status is Status.IN_PROGRESS
    run = task.run
    would_ask = (
        run.indeterminate_policy is IndeterminatePolicy.ASK_PERSON
        and run.effect_after_crash is Effect.UNKNOWN
    )
    return run.lease_expires_at + (REPORT_GRACE_PERIOD if would_ask else timedelta(0)) <= at


def _done_status(task: Task) -> Status:
    return Status.DELIVERED if task.is_reminder else Status.COMPLETED


def retryable_run(task: Task) -> Run | None:
    """Return the last run if the next one retries it, else None.

    It must belong to the current occurrence, or to an earlier one that is being made up for, and
    must not have committed.
    """
    run = task.run
    if run is None or run.status is RunStatus.COMMITTED:
        return None
    if _is_resolved_as_not_applied(run):
        return run
    if task.repeat is not None and _is_given_up(run) and not _is_approved(run):
        return None  # the early run was given up; this is the regular occurrence
    is_meant = run.nominal_at == task.nominal_at or _is_makeup_for_earlier_occurrence(run, task)
    return run if is_meant else None


def _is_resolved_as_not_applied(run: Run) -> bool:
    """Return True if a person found that the run's indeterminate effect has not happened.

    A series may have moved to its next occurrence meanwhile.
    """
    was_in_doubt = run.status in (RunStatus.CRASHED, RunStatus.PAUSED_RECONCILIATION)
    return was_in_doubt and run.mutation.status is MutationStatus.FAILED


def _is_makeup_for_earlier_occurrence(run: Run, task: Task) -> bool:
    """Return True if the run makes up for an occurrence before the task's current one.

    Such a run is marked early although it started after its own time: the current occurrence is
    still to come.
    """
    is_late = run.is_early and run.started_at >= run.nominal_at
    return is_late and run.nominal_at < task.nominal_at


def _is_approved(run: Run) -> bool:
    return run.is_verified and run.status is RunStatus.PAUSED_APPROVAL


def _is_given_up(run: Run) -> bool:
    return run.diagnosis is None or run.diagnosis.delay is None


def _is_resolved_by_person(run: Run) -> bool:
    """Return True if a person was asked about the run's effect; its retry counts as recovery."""
    return run.diagnosis is not None and run.diagnosis.action is Action.ASK_PERSON


def _run_reason(task: Task, previous: Run | None, lease: Lease) -> Reason:
    if previous is not None:
        is_mended = previous.handler_version != lease.handler_version
        if previous.status is RunStatus.FAILED_LOGIC and is_mended:
            return Reason.LOGIC_FIX
        if is_reviewed(task):
            return Reason.TRANSIENT  # resumed automatically, however long it waited
        if _is_given_up(previous) and not _is_resolved_by_person(previous):
            return Reason.USER_RETRY  # no automatic retry was planned
        return _REASON_BY_STATUS.get(previous.status, Reason.USER_RETRY)
    if task.run is None:
        return Reason.FIRST
    is_by_the_rule = task.repeat is not None and task.due_at >= task.nominal_at
    return Reason.RECURRENCE if is_by_the_rule else Reason.USER_RETRY


def current_run(task: Task) -> Run:
    """Return the task's run, or a replacement if the stored item has none.

    The replacement is a first attempt whose effect is in flight and whose lease has expired.
    """
    if task.run is not None:
        return task.run
    return Run(
        id=task.id,
        attempt=1,
        reason=Reason.FIRST,
        mutation=Mutation(idempotency_key=task.id, status=MutationStatus.IN_FLIGHT),
        nominal_at=task.nominal_at,
        started_at=task.due_at,
        lease_expires_at=task.due_at,
        handler_version="unknown",
    )


_MAX_DELAY_FACTOR = 1.5
_SLACK = timedelta(seconds=30)


def find_previous_failure(task: Task, previous: Run, *, at: datetime) -> PreviousFailure | None:
    """Return the failure that this retry follows, or None if `previous` has no counted failure."""
    note = previous.diagnosis
    if previous.category is None or note is None or not note.counted:
        return None
    return PreviousFailure(
        category=previous.category,
        fingerprint=note.fingerprint,
        delay_seconds=_waited_seconds(task, previous, note, at=at),
    )


def _waited_seconds(task: Task, previous: Run, note: RunDiagnosis, *, at: datetime) -> int | None:
    """Return the policy's delay in seconds if the retry came after exactly that delay, else None.

    None if a review, a person or the server chose the time, or if throttling, a circuit breaker or
    a pause prolonged the wait. Such a wait says nothing about the delay.
    """
    delay, asked = note.delay, note.retry_after
    if task.next_retry_at is None or delay is None:
        return None
    is_servers = asked is not None and asked >= delay
    latest = (previous.ended_at or previous.started_at) + delay * _MAX_DELAY_FACTOR + _SLACK
    if is_servers or at > latest:
        return None
    return round(delay.total_seconds())
