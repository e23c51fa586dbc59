"""The lease of a run: only its worker may write the task until the lease expires.

No other worker takes an expired lease over. It is reported as a failure of the run, by the sweeper
(`usecases/runs/recover_expired_leases`) or from a dead letter, and the retry starts a new run.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from duecourse.domain.errors import DuecourseError
from duecourse.domain.lifecycle.current_run import current_run
from duecourse.domain.origin import Effect, Origin
from duecourse.domain.tasks.run import IndeterminatePolicy
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task

if TYPE_CHECKING:
    from duecourse.domain.failures.failure_report import FailureReport

LEASE_EXPIRED_CODE = "worker_vanished"
REPORT_GRACE_PERIOD = timedelta(minutes=2)  # until the queue redelivers the report


class OutlivedLeaseError(DuecourseError):
    """The worker finished its work after its lease had expired."""

    def __init__(self) -> None:
        super().__init__("the lease expired while the worker was still running")


@dataclass(frozen=True, kw_only=True, slots=True)
class Lease:
    """The right of one worker to run the task until `expires_at`, with its code version."""

    run_id: str
    expires_at: datetime
    handler_version: str


def lease_expired(task: Task, *, at: datetime) -> bool:
    """Return True if the task is in progress and its lease has expired.

    If a person would be asked about an unknown effect, REPORT_GRACE_PERIOD is added first, so that
    a delayed report of the worker can still arrive. A task in progress without a run counts as
    expired.
    """
    if task.status is not Status.IN_PROGRESS or task.run is None:
        return task.status is Status.IN_PROGRESS
    run = task.run
    is_person_asked = (
        run.indeterminate_policy is IndeterminatePolicy.ASK_PERSON
        and run.effect_after_crash is Effect.UNKNOWN
    )
    return run.lease_expires_at + (REPORT_GRACE_PERIOD if is_person_asked else timedelta(0)) <= at


def lease_expired_report(task: Task) -> FailureReport:
    """Return the crash report for a run whose lease expired. It failed when the lease expired."""
    # A worker takes leases and needs no reports of them.
    from duecourse.domain.failures.failure import Failure
    from duecourse.domain.failures.failure_report import FailureReport

    run = current_run(task)
    failure = Failure.create(
        "the worker stopped before it could finish, and its lease expired",
        type="WorkerVanished",
        code=LEASE_EXPIRED_CODE,
    )
    return FailureReport(
        task_id=task.id,
        run_id=run.id,
        failure=failure,
        failed_at=run.lease_expires_at,
        origin=Origin.CRASH,
    )
