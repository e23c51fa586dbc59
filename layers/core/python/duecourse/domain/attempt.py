"""One attempt at a task: claimed, then committed, failed or found crashed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from duecourse.domain.failure import Failure
from duecourse.domain.run import (
    Mutation,
    MutationStatus,
    Phase,
    Reason,
    Run,
    RunStatus,
)
from duecourse.domain.status import Status
from duecourse.domain.task import Skipped, Task

RETRY_DELAY = timedelta(minutes=2)
FAILED_OCCURRENCES_BEFORE_PAUSE = 3
_INSTANT = timedelta(milliseconds=1)
_REASON_AFTER = {
    RunStatus.CRASHED: Reason.CRASHED_RECOVERY,
    RunStatus.PAUSED_TRANSIENT: Reason.TRANSIENT,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Lease:
    """Who runs the task, until when, and with which code."""

    owner: str
    expires_at: datetime
    handler_version: str


def claimed(task: Task, lease: Lease, *, at: datetime) -> Task:
    """Take the task for one worker, with its effect recorded as in flight before it begins."""
    before = _run_to_try_again(task)
    key = before.mutation.key if before else lease.owner
    run = Run(
        id=lease.owner,
        attempt=before.attempt + 1 if before else 1,
        retry_of=before.id if before else None,
        reason=_reason(task, before),
        mutation=Mutation(key=key, status=MutationStatus.IN_FLIGHT),
        phase=Phase.MUTATING,
        nominal_at=task.nominal_at,
        started_at=at,
        lease_expires_at=lease.expires_at,
        handler_version=lease.handler_version,
    )
    return task.moved(Status.IN_PROGRESS, run=run, next_retry_at=None, skipped=None)


def committed(task: Task, result: Any, *, at: datetime) -> Task:
    """The attempt did its work: a one-shot is done, a series goes on to its next occurrence."""
    changes: dict[str, Any] = {
        "run": running(task).applied(result).committed(at=at),
        "delivered_at": at,
        "failed_occurrences": 0,
    }
    following = _next_occurrence(task, changes, at=at)
    return following or task.moved(_done(task), **changes, skipped=_missed(task, until=at))


def failed(task: Task, failure: Failure, *, at: datetime) -> Task:
    """The handler said no. Two minutes later it is tried again, until `max_retries` failures."""
    run = running(task)
    mutation = replace(run.mutation, status=MutationStatus.FAILED)
    note = {"mutation": mutation, "error": failure.message, "category": failure.category}
    if task.retry_count + 1 < task.max_retries:
        paused = run.ended(RunStatus.PAUSED_TRANSIENT, at=at, **note)
        return _retried(task, paused, failure, due_at=at + RETRY_DELAY)
    return _given_up(task, run.ended(RunStatus.FAILED_PERMANENT, at=at, **note), failure, at=at)


def crashed(task: Task, *, at: datetime) -> Task:
    """The lease ran out. The run is tried again at once, within the same limit as failures."""
    failure = Failure(message="the worker vanished before it could finish", category="crash")
    run = replace(running(task).crashed(at=at), error=failure.message)
    if task.retry_count + 1 < task.max_retries:
        return _retried(task, run, failure, due_at=at)
    return _given_up(task, run, failure, at=at)


def has_vanished(task: Task, *, at: datetime) -> bool:
    """Somebody claimed the task and has not been heard of for the length of a lease."""
    return task.status is Status.IN_PROGRESS and (
        task.run is None or task.run.lease_expires_at <= at
    )


def _retried(task: Task, run: Run, failure: Failure, *, due_at: datetime) -> Task:
    return task.moved(
        Status.PENDING, run=run, due_at=due_at, next_retry_at=due_at, **_counted(task, failure)
    )


def _given_up(task: Task, run: Run, failure: Failure, *, at: datetime) -> Task:
    """No retry is left: a one-shot has failed; a series goes on, and is paused at the third."""
    lost = task.failed_occurrences + 1
    changes = {"run": run, "failed_occurrences": lost, **_counted(task, failure)}
    following = _next_occurrence(task, changes, at=at)
    if following is None:
        return task.moved(Status.FAILED, **changes, skipped=_missed(task, until=at))
    return replace(following, paused=task.paused or lost >= FAILED_OCCURRENCES_BEFORE_PAUSE)


def _counted(task: Task, failure: Failure) -> dict[str, Any]:
    return {
        "retry_count": task.retry_count + 1,
        "last_error": failure.message,
        "last_error_category": failure.category,
    }


def _next_occurrence(task: Task, changes: dict[str, Any], *, at: datetime) -> Task | None:
    """The task waiting for its next occurrence; None where there is none.

    A run asked for ahead of time (`due_at` before `nominal_at`) leaves its occurrence to come.
    """
    series = task.series
    if series is None:
        return None
    ran_early = task.due_at < task.nominal_at
    following = task.nominal_at if ran_early else series.next_after(max(task.nominal_at, at))
    if following is None:
        return None
    carried = {**changes, "retry_count": 0, "next_retry_at": None}
    return task.moved(
        Status.PENDING,
        **carried,
        due_at=following,
        nominal_at=following,
        skipped=None if ran_early else _missed(task, until=at),
    )


def _missed(task: Task, *, until: datetime) -> Skipped | None:
    """The occurrences that passed after this one while nothing ran."""
    series = task.series
    count = series.count_between(task.nominal_at, until + _INSTANT) if series else 0
    return Skipped(count, "missed while nothing ran") if count else None


def _done(task: Task) -> Status:
    return Status.DELIVERED if task.type == "reminder" else Status.COMPLETED


def _run_to_try_again(task: Task) -> Run | None:
    """The last run, if it was at this very occurrence and left it undone."""
    run = task.run
    if run is None or run.status is RunStatus.COMMITTED or not task.retry_count:
        return None
    return run if run.nominal_at == task.nominal_at else None


def _reason(task: Task, before: Run | None) -> Reason:
    if before is not None:
        return _REASON_AFTER.get(before.status, Reason.USER_RETRY)
    if task.run is None:
        return Reason.FIRST
    is_by_the_rule = task.repeat is not None and task.due_at >= task.nominal_at
    return Reason.RECURRENCE if is_by_the_rule else Reason.USER_RETRY


def running(task: Task) -> Run:
    """The run in course. An item that lost its run is treated as if it had just begun."""
    if task.run is not None:
        return task.run
    return Run(
        id=task.id,
        attempt=1,
        reason=Reason.FIRST,
        mutation=Mutation(key=task.id, status=MutationStatus.IN_FLIGHT),
        nominal_at=task.nominal_at,
        started_at=task.due_at,
        lease_expires_at=task.due_at,
        handler_version="unknown",
    )
