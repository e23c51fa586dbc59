"""The run that a task holds: its current or last one, and whether the next run retries it."""

from __future__ import annotations

from duecourse.domain.tasks.run import Mutation, MutationStatus, Reason, Run, RunStatus
from duecourse.domain.tasks.task import Task


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
    if task.repeat is not None and is_given_up(run) and not _is_approved(run):
        return None  # the early run was given up; this is the regular occurrence
    is_current = run.nominal_at == task.nominal_at
    return run if is_current or _is_makeup_for_earlier_occurrence(run, task) else None


def _is_resolved_as_not_applied(run: Run) -> bool:
    """Return True if a person found that the run's indeterminate effect has not happened.

    A series may have moved to its next occurrence meanwhile.
    """
    was_indeterminate = run.status in (RunStatus.CRASHED, RunStatus.PAUSED_RECONCILIATION)
    return was_indeterminate and run.mutation.status is MutationStatus.FAILED


def _is_makeup_for_earlier_occurrence(run: Run, task: Task) -> bool:
    """Return True if the run makes up for an occurrence before the task's current one.

    Such a run is marked early although it started after its own time: the current occurrence is
    still to come.
    """
    is_late = run.is_early and run.started_at >= run.nominal_at
    return is_late and run.nominal_at < task.nominal_at


def _is_approved(run: Run) -> bool:
    return run.is_verified and run.status is RunStatus.PAUSED_APPROVAL


def is_given_up(run: Run) -> bool:
    """Return True if no automatic retry follows the run."""
    return run.diagnosis is None or run.diagnosis.delay is None
