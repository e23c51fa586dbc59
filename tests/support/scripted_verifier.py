"""A verifier with a scripted outcome, and the dependencies to call it."""

from __future__ import annotations

from datetime import datetime, timedelta

from duecourse.domain.tasks.outcome_marker import NoOutcome, Outcome
from duecourse.domain.tasks.task import Task
from duecourse.usecases.runs.approve_reject import ApprovalDeps
from duecourse.usecases.runs.verify_task import VerificationDeps

from tests.support.fakes.clock import ManualClock
from tests.support.fakes.queues import ListFailures, ListQueue
from tests.support.fakes.tasks import MemoryStore


class ScriptedVerifier:
    """Returns or raises the scripted outcome and records the tasks."""

    def __init__(self, outcome: Outcome | Exception | None = None) -> None:
        self.outcome = outcome or NoOutcome()
        self.tasks: list[Task] = []

    def verify(self, task: Task, *, deadline: datetime) -> Outcome:  # noqa: ARG002
        self.tasks.append(task)
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


def verification_deps(
    store: MemoryStore,
    queue: ListQueue,
    failures: ListFailures,
    clock: ManualClock,
    verifier: ScriptedVerifier | None = None,
) -> VerificationDeps:
    return VerificationDeps(
        approval_deps=ApprovalDeps(store, store.subjects, queue),
        failure_queue=failures,
        verifier=verifier or ScriptedVerifier(),
        clock=clock,
        lease=timedelta(seconds=90),
        time_limit=timedelta(seconds=45),
    )
