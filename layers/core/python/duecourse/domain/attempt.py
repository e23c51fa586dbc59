"""One attempt at a task: claimed, then committed, or failed as was decided."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from duecourse.domain.decision import Decision
from duecourse.domain.diagnosis import Diagnosis
from duecourse.domain.failure import Failure
from duecourse.domain.instant import to_millisecond
from duecourse.domain.policy import Action
from duecourse.domain.report import FailureReport
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

VANISHED = "worker_vanished"
UNDELIVERED = "its message died before a worker took it: it was sent again"
GUIDANCE_KEPT = 10
FAILED_OCCURRENCES_BEFORE_PAUSE = 3
_INSTANT = timedelta(milliseconds=1)
_REASON_AFTER = {
    RunStatus.CRASHED: Reason.CRASHED_RECOVERY,
    RunStatus.PAUSED_TRANSIENT: Reason.TRANSIENT,
    RunStatus.PAUSED_BUDGET: Reason.TRANSIENT,
}
_RUN_STATUS_AFTER = {
    Action.RETRY: RunStatus.PAUSED_TRANSIENT,
    Action.RETRY_WITH_GUIDANCE: RunStatus.PAUSED_TRANSIENT,
    Action.WAIT_FOR_BUDGET: RunStatus.PAUSED_BUDGET,
    Action.RETRY_WITH_SPEC_REFRESH: RunStatus.PAUSED_APPROVAL,
    Action.ESCALATE_TO_HUMAN: RunStatus.PAUSED_APPROVAL,
    Action.MARK_AS_BLOCKED: RunStatus.FAILED_PERMANENT,
    Action.GIVE_UP: RunStatus.FAILED_PERMANENT,
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
    return task.moved(Status.IN_PROGRESS, run=run, next_retry_at=None, skipped=None, waits_for=None)


def committed(task: Task, result: Any, *, at: datetime) -> Task:
    """The attempt did its work: a one-shot is done, a series goes on to its next occurrence."""
    changes: dict[str, Any] = {
        "run": running(task).applied(result).committed(at=at),
        "delivered_at": at,
        "failed_occurrences": 0,
    }
    following = _next_occurrence(task, changes, at=at)
    return following or task.moved(_done(task), **changes, skipped=_missed(task, until=at))


def failed(
    task: Task, report: FailureReport, diagnosis: Diagnosis, decision: Decision, *, at: datetime
) -> Task:
    """The run is over; what comes next was decided. A retry is never due before the present."""
    run = _ended(task, report, decision, at=at)
    run = replace(run, diagnosis=_noted(report.failure, diagnosis, decision))
    changes = {"run": run, **_counted(task, report.failure, decision)}
    if decision.due_at is not None:
        due_at = to_millisecond(max(decision.due_at, at))
        return task.moved(Status.PENDING, due_at=due_at, next_retry_at=due_at, **changes)
    return _given_up(task, decision, changes, at=at)


def parked(task: Task, *, until: datetime, waits_for: str) -> Task:
    """Not now: something it depends on is not there. Nothing was tried, nothing is counted."""
    until = to_millisecond(until)
    next_retry_at = until if task.next_retry_at else None
    return task.moved(
        Status.PENDING,
        due_at=until,
        next_retry_at=next_retry_at,
        waits_for=waits_for,
        skipped=None,
    )


def undelivered(task: Task, error: str, category: str, *, at: datetime) -> Task:
    """Its message died before anybody took it: it is due again, and that costs no retry."""
    return task.moved(
        Status.PENDING,
        due_at=at,
        next_retry_at=at if task.next_retry_at else None,
        last_error=error,
        last_error_category=category,
        skipped=None,
        waits_for=UNDELIVERED,
    )


def concerns(task: Task, report: FailureReport, *, at: datetime) -> bool:
    """The run it tells of is still the task's, and nobody has ended it."""
    is_course = task.status is Status.IN_PROGRESS and running(task).id == report.run_id
    return is_course and (not report.is_crash or has_vanished(task, at=at))


def has_vanished(task: Task, *, at: datetime) -> bool:
    """Somebody claimed the task and has not been heard of for the length of a lease."""
    return task.status is Status.IN_PROGRESS and (
        task.run is None or task.run.lease_expires_at <= at
    )


def vanished(task: Task) -> FailureReport:
    """What is told of a run whose worker was not heard of again: it failed with its lease."""
    run = running(task)
    failure = Failure.of(
        "the worker vanished before it could finish", type="WorkerVanished", code=VANISHED
    )
    return FailureReport(
        task_id=task.id,
        run_id=run.id,
        failure=failure,
        failed_at=run.lease_expires_at,
        is_crash=True,
    )


def _ended(task: Task, report: FailureReport, decision: Decision, *, at: datetime) -> Run:
    run = running(task)
    note: dict[str, Any] = {"error": report.failure.summary, "category": decision.category.name}
    if report.is_crash:
        return replace(run.crashed(at=at), **note)
    mutation = replace(run.mutation, status=MutationStatus.FAILED)
    return run.ended(_RUN_STATUS_AFTER[decision.action], at=at, mutation=mutation, **note)


def _noted(failure: Failure, diagnosis: Diagnosis, decision: Decision) -> dict[str, Any]:
    """What the error log tells of it besides message and category. Nothing that is null."""
    place = diagnosis.location
    note = {
        "confidence": diagnosis.confidence,
        "pattern": diagnosis.pattern,
        "fix": diagnosis.fix,
        "location": {"file": place.file, "line": place.line} if place else None,
        "type": failure.type,
        "code": failure.code,
        "status": failure.status,
        "phase": failure.phase,
        "action": str(decision.action),
        "counted": decision.counts,
        "retry_count": decision.retry_count,
        "delay_seconds": decision.delay.total_seconds() if decision.delay is not None else None,
    }
    return {name: value for name, value in note.items() if value is not None}


def _counted(task: Task, failure: Failure, decision: Decision) -> dict[str, Any]:
    guidance = (*task.guidance, decision.guidance) if decision.guidance else task.guidance
    return {
        "retry_count": decision.retry_count,
        "last_error": failure.summary,
        "last_error_category": decision.category.name,
        "recovery_action": str(decision.action),
        "guidance": guidance[-GUIDANCE_KEPT:],
    }


def _given_up(task: Task, decision: Decision, changes: dict[str, Any], *, at: datetime) -> Task:
    """Nothing more is tried: a one-shot ends or waits for a person.

    A series waits for nobody: it goes on, and is paused when the third occurrence in a row is lost.
    """
    lost = task.failed_occurrences + 1
    changes |= {"failed_occurrences": lost}
    following = _next_occurrence(task, changes, at=at)
    if following is None:
        return task.moved(decision.status, **changes, skipped=_missed(task, until=at))
    return replace(following, paused=task.paused or lost >= FAILED_OCCURRENCES_BEFORE_PAUSE)


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
    carried = {**changes, "retry_count": 0, "next_retry_at": None, "guidance": ()}
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
    if run is None or run.status is RunStatus.COMMITTED:
        return None
    if task.repeat is not None and not (task.retry_count or task.next_retry_at):
        return None  # given up: an early run left its occurrence, and this is it
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
