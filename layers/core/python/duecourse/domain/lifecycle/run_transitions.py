"""Transitions of a task around one run: claim, advance, commit, defer, requeue.

Failures are in `apply_failure`, expired leases in `lease`.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from duecourse.domain.errors import IllegalTransitionError
from duecourse.domain.lifecycle.advance_series import (
    advance_series,
    missed_occurrences,
    waited_too_long_for,
)
from duecourse.domain.lifecycle.current_run import current_run, is_given_up, retryable_run
from duecourse.domain.lifecycle.lease import Lease
from duecourse.domain.lifecycle.previous_failure import (
    find_first_failed_at,
    find_first_failure,
    find_previous_failure,
)
from duecourse.domain.lifecycle.spec_review import is_reviewed
from duecourse.domain.lifecycle.uncounted_wait import is_limited
from duecourse.domain.tasks.failure_kind import Kind
from duecourse.domain.tasks.handler import HandlerCapabilities
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run import (
    IndeterminatePolicy,
    Mutation,
    MutationStatus,
    Phase,
    Reason,
    Run,
    RunStatus,
)
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import Wait, WaitReason
from duecourse.domain.time.instant import truncate_to_millisecond

_REASON_BY_STATUS = {
    RunStatus.CRASHED: Reason.CRASHED_RECOVERY,
    RunStatus.PAUSED_TRANSIENT: Reason.TRANSIENT,
    RunStatus.PAUSED_BUDGET: Reason.TRANSIENT,
}


def claim(task: Task, lease: Lease, capabilities: HandlerCapabilities, *, at: datetime) -> Task:
    """Move the task to in_progress under `lease` and start a new run.

    If the handler has no `prepare`, the same write records the mutation as in flight. Raises
    IllegalTransitionError if the task is already in progress.
    """
    if task.status is Status.IN_PROGRESS:
        raise IllegalTransitionError(task.short_id, task.status, Status.IN_PROGRESS)
    previous = retryable_run(task)
    reason = _run_reason(task, previous, lease)
    run = Run(
        id=lease.run_id,
        attempt=previous.attempt + 1 if previous else 1,
        retry_of=previous.id if previous else None,
        reason=reason,
        mutation=Mutation(idempotency_key=_reusable_key(previous) or lease.run_id),
        nominal_at=previous.nominal_at if previous else task.nominal_at,
        started_at=at,
        lease_expires_at=lease.expires_at,
        handler_version=lease.handler_version,
        indeterminate_policy=capabilities.indeterminate_policy,
        has_emit=capabilities.has_emit,
        is_early=_is_off_schedule(task, previous),
        previous_failure=find_previous_failure(task, previous, at=at) if previous else None,
        first_failure=find_first_failure(previous) if previous else None,
        first_failed_at=find_first_failed_at(task, previous) if previous else None,
        waited_for=(previous.waited_for if previous else None) or waited_too_long_for(task),
        originally_due_at=_find_originally_due_at(task, previous, reason),
    )
    run = _resume_phase(run, previous, capabilities)
    claimed = replace(task, run=run, next_retry_at=None, skipped=None, wait=None, late_report=None)
    return claimed.move_to(Status.IN_PROGRESS)


def first_run(
    lease: Lease, capabilities: HandlerCapabilities, *, nominal_at: datetime, at: datetime
) -> Run:
    """Return the run with which `claim` starts a task of the lane NEW_REMINDER.

    Such a task never ran and is due at its own time, so nothing else of it matters.
    """
    run = Run(
        id=lease.run_id,
        attempt=1,
        reason=Reason.FIRST,
        mutation=Mutation(idempotency_key=lease.run_id),
        nominal_at=nominal_at,
        started_at=at,
        lease_expires_at=lease.expires_at,
        handler_version=lease.handler_version,
        indeterminate_policy=capabilities.indeterminate_policy,
        has_emit=capabilities.has_emit,
    )
    return _resume_phase(run, None, capabilities)


def _is_resolved_by_person(run: Run) -> bool:
    """Return True if a person was asked about the run's effect; its retry counts as recovery."""
    return run.diagnosis is not None and run.diagnosis.action is Action.ASK_PERSON


def _run_reason(task: Task, previous: Run | None, lease: Lease) -> Reason:
    if previous is not None:
        is_new_version = previous.handler_version != lease.handler_version
        if previous.status is RunStatus.FAILED_LOGIC and is_new_version:
            return Reason.LOGIC_FIX
        if is_reviewed(task):
            return Reason.TRANSIENT  # resumed automatically, however long it waited
        if is_given_up(previous) and not _is_resolved_by_person(previous):
            return Reason.USER_RETRY  # no automatic retry was planned
        return _REASON_BY_STATUS.get(previous.status, Reason.USER_RETRY)
    if task.run is None:
        return Reason.FIRST
    is_regular_occurrence = task.repeat is not None and task.due_at >= task.nominal_at
    return Reason.RECURRENCE if is_regular_occurrence else Reason.USER_RETRY


def _find_originally_due_at(task: Task, previous: Run | None, reason: Reason) -> datetime | None:
    """Return when the task was first due if this run only recovers from a crash, else None.

    None too if the task also waited for something else, such as a person or quiet hours.
    """
    is_automatic_retry = task.next_retry_at is not None and task.wait is None
    is_recovery = reason is Reason.CRASHED_RECOVERY and is_automatic_retry
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
    if previous is None or previous.is_rejected:
        return None
    return previous.mutation.idempotency_key


def _resume_phase(run: Run, previous: Run | None, capabilities: HandlerCapabilities) -> Run:
    """Set the phase in which the run starts.

    An applied mutation is never repeated, unless the work was rejected: the run starts at emit. An
    indeterminate one is reconciled first, unless the handler's policy allows repeating it.
    """
    if previous is not None and previous.is_applied and not previous.is_rejected:
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
        indeterminate = run.with_mutation_status(MutationStatus.INDETERMINATE)
        return replace(indeterminate, phase=Phase.MUTATING, prepare_result=previous.prepare_result)
    return run if capabilities.has_prepare else run.mark_in_flight()


def advance(task: Task, run: Run) -> Task:
    """Store the run's progress. The task stays in progress."""
    return replace(task, run=run).move_to(Status.IN_PROGRESS)


def commit(task: Task, result: Any, *, at: datetime) -> Task:
    """End the run as successful: a one-shot task is done, a series moves to its next occurrence."""
    committed = replace(
        task,
        run=current_run(task).mark_applied(result).commit(at=at),
        delivered_at=at,
        failed_occurrences=0,
        wait=None,
        waiting_since=None,
    )
    following = advance_series(task, committed, at=at)
    if following is not None:
        return following
    ended = replace(committed, skipped=missed_occurrences(task, until=at))
    return ended.move_to(Status.DELIVERED if task.is_reminder else Status.COMPLETED)


def defer(task: Task, *, until: datetime, wait: Wait, at: datetime | None = None) -> Task:
    """Postpone the task to `until` without an attempt. No retry is counted.

    `at` is now, for a wait whose length is limited.
    """
    until = truncate_to_millisecond(until)
    deferred = replace(
        task,
        due_at=until,
        next_retry_at=until if task.next_retry_at else None,
        wait=wait,
        waiting_since=task.waiting_since or (at if is_limited(wait) else None),
        skipped=None,
    )
    return deferred.move_to(Status.PENDING)


def requeue(
    task: Task, error: str, category: str, *, kind: Kind = Kind.UNKNOWN, at: datetime
) -> Task:
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
        last_error_kind=kind,
        skipped=None,
        wait=Wait(WaitReason.REQUEUED),
    )
    return requeued.move_to(Status.PENDING)
