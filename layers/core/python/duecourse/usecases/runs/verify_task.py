"""Verify finished work when it is due: ask its verifier, hand over to a person, or time out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from duecourse.domain.errors import StaleTaskError
from duecourse.domain.lifecycle.verification import (
    begin_verifier_attempt,
    hand_over_to_person,
    is_verification_overdue,
    rejection_report,
    verification_timeout_report,
)
from duecourse.domain.tasks.outcome_marker import Failed, NoOutcome, Outcome, Succeeded
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import truncate_to_millisecond
from duecourse.usecases.runs.approve_reject import ApprovalDeps, approve_task
from duecourse.usecases.tasks.enqueue_if_due_soon import enqueue_if_due_soon

if TYPE_CHECKING:
    from duecourse.ports.integrations import Verifier
    from duecourse.ports.queues import FailureQueue
    from duecourse.ports.runtime import Clock


class Verdict(StrEnum):
    APPROVED = "approved"
    REJECTED = "rejected"
    OPEN = "open"
    EXPIRED = "expired"
    CONFLICT = "conflict"


@dataclass(frozen=True)
class VerificationDeps:
    approval_deps: ApprovalDeps
    failure_queue: FailureQueue
    verifier: Verifier
    clock: Clock
    lease: timedelta
    time_limit: timedelta


def verify_task(task: Task, deps: VerificationDeps) -> Verdict:
    """Report a timeout, ask the verifier, or hand the task over to a person, as its state requires.

    The attempt is saved before the verifier is asked. CONFLICT means that another process changed
    the task; nothing was done then.
    """
    now = truncate_to_millisecond(deps.clock.now())
    if is_verification_overdue(task, at=now):
        deps.failure_queue.send(verification_timeout_report(task, at=now))
        return Verdict.EXPIRED
    leased = begin_verifier_attempt(task, at=now, lease=deps.lease)
    try:
        deps.approval_deps.store.save(task, leased or hand_over_to_person(task))
    except StaleTaskError:
        return Verdict.CONFLICT
    return _apply_verifier_outcome(leased, deps) if leased else Verdict.OPEN


def _apply_verifier_outcome(task: Task, deps: VerificationDeps) -> Verdict:
    """Ask the verifier and apply its outcome.

    If it cannot be reached or has no outcome, it is asked again once the lease has expired.
    """
    outcome = _ask_verifier(task, deps)
    now = truncate_to_millisecond(deps.clock.now())
    match outcome:
        case Succeeded():
            approve_task(task, deps.approval_deps, at=now)
            return Verdict.APPROVED
        case Failed(reason):
            deps.failure_queue.send(rejection_report(task, reason, at=now))
            return Verdict.REJECTED
        case NoOutcome():
            enqueue_if_due_soon(task, queue=deps.approval_deps.queue, now=now)
            return Verdict.OPEN


def _ask_verifier(task: Task, deps: VerificationDeps) -> Outcome:
    try:
        return deps.verifier.verify(task, deadline=deps.clock.now() + deps.time_limit)
    except Exception:  # noqa: BLE001 - whatever went wrong, nothing is decided by it
        return NoOutcome()
