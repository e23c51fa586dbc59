"""Work that was done and waits for a verdict: by a provider named for it, or by a person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from duecourse.domain.errors import RefusedError
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.failure_report import FailureReport
from duecourse.domain.lifecycle.run_transitions import committed, running
from duecourse.domain.origin import Origin
from duecourse.domain.tasks.run import RunStatus
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import Wait, WaitReason
from duecourse.domain.time.instant import to_millisecond

MOST_ASKS = 3


def verifier_of(task: Task) -> Mapping[str, Any] | None:
    """The payload for the provider that is to judge the work, where one is named."""
    named = task.payload.get("verifier")
    return named if isinstance(named, Mapping) else None


def awaits_a_person(task: Task) -> bool:
    is_open = task.status is Status.PENDING_VERIFICATION
    return is_open and task.wait_reason is WaitReason.VERIFICATION


def to_be_verified(task: Task, result: Any, *, at: datetime, verify_by: datetime) -> Task:
    """Done, says the one who did it. Its verifier is asked at once, a person until the time is up.

    The task is due again when something is to happen without anybody's word.
    """
    run = running(task).applied(result)
    run = replace(run, status=RunStatus.PAUSED_APPROVAL, verify_by=verify_by)
    verifier = verifier_of(task)
    waiting = replace(
        task,
        run=run,
        due_at=verify_by if verifier is None else at,
        wait=_for_a_person(verify_by) if verifier is None else _for_verifier(verifier, verify_by),
    )
    return waiting.move_to(Status.PENDING_VERIFICATION)


def _for_a_person(verify_by: datetime) -> Wait:
    return Wait(WaitReason.VERIFICATION, until=verify_by)


def _for_verifier(verifier: Mapping[str, Any], verify_by: datetime) -> Wait:
    detail = {"provider": verifier.get("provider")}
    return Wait(WaitReason.VERIFIER, until=verify_by, detail=detail)


def is_overdue(task: Task, *, at: datetime) -> bool:
    verify_by = running(task).verify_by
    return verify_by is None or at >= verify_by


def asking_verifier(task: Task, *, at: datetime, lease: timedelta) -> Task | None:
    """The task while its verifier is asked: others leave it alone until the lease is over.

    None where there is no verifier, or it was asked in vain often enough.
    """
    run = running(task)
    if verifier_of(task) is None or run.asked_verifier >= MOST_ASKS:
        return None
    asked = replace(run, asked_verifier=run.asked_verifier + 1)
    asking = replace(task, run=asked, due_at=to_millisecond(at + lease))
    return asking.move_to(Status.PENDING_VERIFICATION)


def left_to_a_person(task: Task) -> Task:
    verify_by = running(task).verify_by or task.due_at
    left = replace(task, due_at=verify_by, wait=_for_a_person(verify_by))
    return left.move_to(Status.PENDING_VERIFICATION)


def approved(task: Task, *, at: datetime) -> Task:
    """What the work leads to follows now: at once, or by a worker where others are to be told."""
    _require_waiting(task, "approved")
    at, run = to_millisecond(at), running(task)
    if not run.emits:
        return committed(task, run.mutation.result, at=at)
    run = replace(run.ended(RunStatus.PAUSED_APPROVAL, at=at), is_verified=True)
    return replace(task, run=run, due_at=at, wait=None).move_to(Status.PENDING)


def rejection(task: Task, reason: str, *, at: datetime) -> FailureReport:
    """A failure of its policy; what comes of it begins afresh."""
    _require_waiting(task, "rejected")
    failure = Failure.of(f"rejected: {reason}", code="rejected")  # no exception: it has no type
    return _reported(task, failure, Origin.REJECTED, at=at)


def expiry(task: Task, *, at: datetime) -> FailureReport:
    """Nobody said anything in time. The work is not done a second time for that."""
    message = "nobody said in time whether it was done well"
    failure = Failure.of(message, code="verification_timeout")
    return _reported(task, failure, Origin.UNVERIFIED, at=at)


def _reported(task: Task, failure: Failure, origin: Origin, *, at: datetime) -> FailureReport:
    return FailureReport(
        task_id=task.id,
        run_id=running(task).id,
        failure=failure,
        failed_at=to_millisecond(at),
        origin=origin,
    )


def _require_waiting(task: Task, verb: str) -> None:
    if task.status is not Status.PENDING_VERIFICATION:
        raise RefusedError(
            f"task {task.short_id} is {task.status}: only work to be verified can be {verb}"
        )
