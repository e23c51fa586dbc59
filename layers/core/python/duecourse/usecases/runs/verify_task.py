"""Work that waits for a verdict is due: its verifier is asked, then a person, then time is up."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from duecourse.domain.errors import StaleTaskError
from duecourse.domain.lifecycle.verification import (
    asking_verifier,
    expiry,
    is_overdue,
    left_to_a_person,
    rejection,
)
from duecourse.domain.tasks.outcome_marker import Failed, NoOutcome, Outcome, Succeeded
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import to_millisecond
from duecourse.ports.integrations import Verifier
from duecourse.ports.queues import FailureQueue
from duecourse.ports.runtime import Clock
from duecourse.usecases.runs.approve_reject import VerdictBook, approve_task
from duecourse.usecases.tasks.enqueue_if_due_soon import send_if_soon


class Verdict(StrEnum):
    APPROVED = "approved"
    REJECTED = "rejected"
    OPEN = "open"
    TOO_LATE = "too_late"
    SOMEBODY_ELSES = "somebody_elses"


@dataclass(frozen=True)
class Court:
    """All that a verdict by machine needs besides the task."""

    book: VerdictBook
    failures: FailureQueue
    verifier: Verifier
    clock: Clock
    lease: timedelta
    time_limit: timedelta


def verify_task(task: Task, court: Court) -> Verdict:
    now = to_millisecond(court.clock.now())
    if is_overdue(task, at=now):
        court.failures.send(expiry(task, at=now))
        return Verdict.TOO_LATE
    asking = asking_verifier(task, at=now, lease=court.lease)
    try:
        court.book.store.save(task, asking or left_to_a_person(task))
    except StaleTaskError:
        return Verdict.SOMEBODY_ELSES
    return _heard(asking, court) if asking else Verdict.OPEN


def _heard(task: Task, court: Court) -> Verdict:
    """A verifier that cannot be reached, or says neither, is asked again when the lease is over."""
    found = _asked(task, court)
    now = to_millisecond(court.clock.now())
    match found:
        case Succeeded():
            approve_task(task, court.book, at=now)
            return Verdict.APPROVED
        case Failed(reason):
            court.failures.send(rejection(task, reason, at=now))
            return Verdict.REJECTED
        case NoOutcome():
            send_if_soon(task, queue=court.book.queue, now=now)
            return Verdict.OPEN


def _asked(task: Task, court: Court) -> Outcome:
    try:
        return court.verifier.verdict(task, deadline=court.clock.now() + court.time_limit)
    except Exception:  # noqa: BLE001 - whatever went wrong, nothing is decided by it
        return NoOutcome()
