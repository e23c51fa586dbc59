"""Which messages are claimed without a read, and what happens when that fails."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from duecourse.domain.dispatch.lanes import Lane
from duecourse.domain.lifecycle import user_actions
from duecourse.domain.lifecycle.quiet_hours import QuietHours
from duecourse.domain.tasks.handler import Handler, RunContext
from duecourse.domain.tasks.owner import Owner
from duecourse.domain.tasks.run import Reason
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.usecases.runs.execute_task import RunOutcome

from tests.support.builders.failures import fail_repeatedly
from tests.support.builders.moments import HOUR, NOW
from tests.support.builders.tasks import ID, a_task, claim_task
from tests.support.fakes.tasks import MemoryStore
from tests.support.worker_harness import WorkerHarness

QUIET = "22:00 07:00 UTC"


class Reminder(Handler):
    idempotent = True

    def __init__(self) -> None:
        self.keys: list[str] = []

    def mutate(self, context: RunContext) -> None:
        self.keys.append(context.idempotency_key)


class PickyReminder(Reminder):
    """Whether it is idempotent depends on the task, so the task has to be read."""

    def is_idempotent(self, task: Task) -> bool:
        return not task.payload


class CountingStore(MemoryStore):
    reads = 0

    def get(self, task_id: str) -> Task:
        self.reads += 1
        return super().get(task_id)

    def peek(self, task_id: str) -> Task | None:
        self.reads += 1
        return super().peek(task_id)


def a_harness(task: Task, handler: Handler | None = None) -> WorkerHarness:
    return WorkerHarness(CountingStore(task), {"reminder": handler or Reminder()})


def reads_of(harness: WorkerHarness) -> int:
    assert isinstance(harness.store, CountingStore)
    return harness.store.reads


def test_a_new_reminder_is_delivered_without_a_read() -> None:
    harness = a_harness(a_task())
    result = harness.run(due_at=NOW, lane=Lane.NEW_REMINDER)
    assert (result.outcome, reads_of(harness)) == (RunOutcome.DELIVERED, 0)
    assert harness.task.status is Status.DELIVERED
    assert (harness.last_run.attempt, harness.last_run.reason) == (1, Reason.FIRST)


@pytest.mark.parametrize("lane", [None, Lane.REMINDER, Lane.REMINDER_RETRY])
def test_a_message_of_another_lane_is_read_first(lane: Lane | None) -> None:
    harness = a_harness(a_task())
    assert harness.run(due_at=NOW, lane=lane).outcome is RunOutcome.DELIVERED
    assert reads_of(harness) == 1


@pytest.mark.parametrize(
    "task",
    [
        fail_repeatedly(a_task(), 1),
        a_task(subject="story-1"),
        user_actions.run_now(a_task(due_at=NOW + HOUR), at=NOW),
    ],
    ids=["retry", "with a subject", "run now"],
)
def test_a_task_that_moved_to_another_lane_is_read_and_run(task: Task) -> None:
    """Its message was sent before, or by code that put every task into lane 0."""
    harness = a_harness(task)
    harness.new_id = lambda: "run-9"  # type: ignore[method-assign]
    harness.clock.at = task.due_at
    result = harness.run(due_at=task.due_at, lane=Lane.NEW_REMINDER)
    assert (result.outcome, reads_of(harness)) == (RunOutcome.DELIVERED, 1)


@pytest.mark.parametrize(
    "task",
    [claim_task(a_task(), "other"), user_actions.cancel(a_task(), at=NOW)],
    ids=["claimed", "cancelled"],
)
def test_a_duplicate_or_stale_message_has_no_effect(task: Task) -> None:
    harness = a_harness(task)
    assert harness.run(due_at=NOW, lane=Lane.NEW_REMINDER).outcome is RunOutcome.DUPLICATE
    assert harness.store.tasks[ID] == task


def test_while_anybody_has_quiet_hours_the_owner_is_read_before_the_claim() -> None:
    harness = a_harness(a_task())
    harness.quiet_hours.by_owner[Owner("console", "bob")] = QuietHours.from_text(QUIET)
    assert harness.run(due_at=NOW, lane=Lane.NEW_REMINDER).outcome is RunOutcome.DELIVERED
    assert reads_of(harness) == 1


def test_a_handler_whose_idempotency_depends_on_the_task_is_read_first() -> None:
    harness = a_harness(a_task(), PickyReminder())
    assert harness.run(due_at=NOW, lane=Lane.NEW_REMINDER).outcome is RunOutcome.DELIVERED
    assert reads_of(harness) == 1


def test_the_claim_waits_for_the_due_time() -> None:
    due_at = NOW + timedelta(milliseconds=700)
    harness = a_harness(a_task(due_at=due_at))
    harness.run(due_at=due_at, lane=Lane.NEW_REMINDER)
    started_at: datetime = harness.last_run.started_at
    assert started_at >= due_at
