"""Verification: finished work waits for approval by a verifier (a provider) or a person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from duecourse.domain.errors import InvalidStateError
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.failure_report import REJECTION_LABEL, FailureReport
from duecourse.domain.lifecycle.current_run import current_run
from duecourse.domain.lifecycle.run_transitions import commit
from duecourse.domain.origin import Origin
from duecourse.domain.tasks.run import RunStatus
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import Wait, WaitReason
from duecourse.domain.time.instant import truncate_to_millisecond

MAX_VERIFIER_ATTEMPTS = 3


def verifier_payload(task: Task) -> Mapping[str, Any] | None:
    """Return the payload for the verifier, or None if the task names none."""
    payload = task.payload.get("verifier")
    return payload if isinstance(payload, Mapping) else None


def is_awaiting_person(task: Task) -> bool:
    is_pending = task.status is Status.PENDING_VERIFICATION
    return is_pending and task.wait_reason is WaitReason.VERIFICATION


def request_verification(task: Task, result: Any, *, at: datetime, verify_until: datetime) -> Task:
    """Move finished work to pending_verification until `verify_until`.

    The task is due at once if it has a verifier to call, otherwise when the time is up.
    """
    run = current_run(task).mark_applied(result)
    run = replace(run, status=RunStatus.PAUSED_APPROVAL, verify_until=verify_until)
    verifier = verifier_payload(task)
    waiting = replace(
        task,
        run=run,
        due_at=verify_until if verifier is None else at,
        wait=_for_a_person(verify_until)
        if verifier is None
        else _for_verifier(verifier, verify_until),
    )
    return waiting.move_to(Status.PENDING_VERIFICATION)


def _for_a_person(verify_by: datetime) -> Wait:
    return Wait(WaitReason.VERIFICATION, until=verify_by)


def _for_verifier(verifier: Mapping[str, Any], verify_by: datetime) -> Wait:
    detail = {"provider": verifier.get("provider")}
    return Wait(WaitReason.VERIFIER, until=verify_by, detail=detail)


def is_verification_overdue(task: Task, *, at: datetime) -> bool:
    verify_by = current_run(task).verify_until
    return verify_by is None or at >= verify_by


def begin_verifier_attempt(task: Task, *, at: datetime, lease: timedelta) -> Task | None:
    """Count a verifier call and lease the task for it, so that no other worker calls meanwhile.

    Returns None if there is no verifier or it was called MAX_VERIFIER_ATTEMPTS times.
    """
    run = current_run(task)
    if verifier_payload(task) is None or run.verifier_attempts >= MAX_VERIFIER_ATTEMPTS:
        return None
    counted_run = replace(run, verifier_attempts=run.verifier_attempts + 1)
    leased = replace(task, run=counted_run, due_at=truncate_to_millisecond(at + lease))
    return leased.move_to(Status.PENDING_VERIFICATION)


def hand_over_to_person(task: Task) -> Task:
    verify_by = current_run(task).verify_until or task.due_at
    handed_over = replace(task, due_at=verify_by, wait=_for_a_person(verify_by))
    return handed_over.move_to(Status.PENDING_VERIFICATION)


def approve(task: Task, *, at: datetime) -> Task:
    """Approve the work: commit it, or make the task due so that a worker runs `emit`."""
    _require_pending_verification(task, "approved")
    at, run = truncate_to_millisecond(at), current_run(task)
    if not run.has_emit:
        return commit(task, run.mutation.result, at=at)
    run = replace(run.end(RunStatus.PAUSED_APPROVAL, at=at), is_verified=True)
    return replace(task, run=run, due_at=at, wait=None).move_to(Status.PENDING)


def rejection_report(task: Task, reason: str, *, at: datetime) -> FailureReport:
    """Return a failure report for rejected work. A retry does the work from the start."""
    _require_pending_verification(task, "rejected")
    failure = Failure.create(
        f"{REJECTION_LABEL} {reason}", code="rejected"
    )  # no exception, so no type
    return _to_report(task, failure, Origin.REJECTED, at=at)


def verification_timeout_report(task: Task, *, at: datetime) -> FailureReport:
    """Return a failure report for work nobody verified in time. The work is not repeated."""
    message = "nobody approved or rejected the work in time"
    failure = Failure.create(message, code="verification_timeout")
    return _to_report(task, failure, Origin.UNVERIFIED, at=at)


def _to_report(task: Task, failure: Failure, origin: Origin, *, at: datetime) -> FailureReport:
    return FailureReport(
        task_id=task.id,
        run_id=current_run(task).id,
        failure=failure,
        failed_at=truncate_to_millisecond(at),
        origin=origin,
    )


def _require_pending_verification(task: Task, verb: str) -> None:
    if task.status is not Status.PENDING_VERIFICATION:
        raise InvalidStateError(
            f"task {task.short_id} is {task.status}: only work to be verified can be {verb}"
        )
