"""A verifier that says what it is told, and what it takes to ask it."""

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
    """A verifier that says what it is told."""

    def __init__(self, found: Outcome | Exception | None = None) -> None:
        self.found = found or NoOutcome()
        self.asked: list[Task] = []

    def verify(self, task: Task, *, deadline: datetime) -> Outcome:  # noqa: ARG002
        self.asked.append(task)
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


def verification_deps(
    store: MemoryStore,
    queue: ListQueue,
    failures: ListFailures,
    clock: ManualClock,
    judge: ScriptedVerifier | None = None,
) -> VerificationDeps:
    return VerificationDeps(
        approval_deps=ApprovalDeps(store, store.subjects, queue),
        failure_queue=failures,
        verifier=judge or ScriptedVerifier(),
        clock=clock,
        lease=timedelta(seconds=90),
        time_limit=timedelta(seconds=45),
    )
