"""A worker that reads an outdated task neither drops its message nor runs the task twice."""

from __future__ import annotations

from dataclasses import replace

import pytest
from duecourse import Handler, RunContext
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.usecases.runs.execute_task import RunOutcome

from tests.support.builders.moments import HOUR, NOW
from tests.support.builders.tasks import ID, an_action, claim_task
from tests.support.fakes.tasks import MemoryStore
from tests.support.worker_harness import WorkerHarness


class Work(Handler):
    def mutate(self, context: RunContext) -> None:
        """Do nothing, successfully."""


DUE = an_action(due_at=NOW, version=5)


def a_harness(task: Task, replica: Task | None) -> WorkerHarness:
    store = MemoryStore(task)
    store.replica[ID] = replica
    return WorkerHarness(store, {"action": Work()})


@pytest.mark.parametrize(
    "replica",
    [
        None,
        replace(DUE, due_at=NOW + HOUR, version=4),
        replace(DUE, paused=True, version=4),
        replace(DUE, description="before an edit", version=4),
    ],
    ids=["not there yet", "due later", "paused", "before an edit"],
)
def test_a_task_runs_although_the_first_read_is_outdated(replica: Task | None) -> None:
    harness = a_harness(DUE, replica)

    assert harness.run().outcome is RunOutcome.DELIVERED
    assert harness.task.status is Status.COMPLETED


@pytest.mark.parametrize(
    "current",
    [
        claim_task(DUE),
        replace(DUE, status=Status.CANCELLED, version=6),
        replace(DUE, due_at=NOW + HOUR, version=6),
    ],
    ids=["claimed", "cancelled", "moved"],
)
def test_a_task_that_only_a_replica_takes_for_due_does_not_run(current: Task) -> None:
    harness = a_harness(current, DUE)

    assert harness.run(due_at=NOW).outcome is RunOutcome.DUPLICATE
    assert harness.task == current
