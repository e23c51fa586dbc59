"""What follows a commit cannot make the run a failure: it is committed."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import pytest
from duecourse.domain.dispatch.timing import Dispatch
from duecourse.domain.limits.circuit_breakers import StoredBreaker
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.usecases.limits.circuit_breaker import BreakerDeps
from duecourse.usecases.runs.execute_task import RunOutcome

from tests.support.builders.moments import NOW
from tests.support.builders.tasks import a_task, an_action
from tests.support.fakes.limits import MemoryBreakers
from tests.support.fakes.queues import ListQueue
from tests.support.fakes.tasks import MemoryStore
from tests.support.worker_harness import WorkerHarness
from tests.unit.usecases.runs.test_admission import RecordingProvider


class FailingQueue(ListQueue):
    def send(self, dispatches: Iterable[Dispatch], *, now: datetime) -> int:  # noqa: ARG002
        raise TimeoutError("SQS did not answer")


class FailingBreakers(MemoryBreakers):
    def get_last_read(self, provider: str) -> StoredBreaker:  # noqa: ARG002
        raise TimeoutError("DynamoDB did not answer")


def make_harness(task: Task) -> WorkerHarness:
    handler: Any = RecordingProvider()
    return WorkerHarness(MemoryStore(task), {"action": handler, "reminder": handler})


def test_a_next_occurrence_that_cannot_be_enqueued_does_not_fail_the_run() -> None:
    harness = make_harness(a_task(repeat="* * * * *"))
    harness.queue = FailingQueue()
    result = harness.run()
    assert (result.outcome, result.follow_up_error) == (RunOutcome.DELIVERED, None)
    assert (harness.failures, harness.task.status) == ([], Status.PENDING)
    assert harness.task.due_at > NOW


def test_a_breaker_that_cannot_be_updated_does_not_fail_the_run() -> None:
    harness = make_harness(an_action())
    harness.breakers = BreakerDeps(FailingBreakers())
    result = harness.run()
    assert (result.outcome, result.follow_up_error) == (RunOutcome.DELIVERED, "TimeoutError")
    assert (harness.failures, harness.task.status) == ([], Status.COMPLETED)


def test_a_failure_report_says_when_the_worker_last_reached_the_provider() -> None:
    harness = make_harness(an_action())
    assert harness.run().follow_up_error is None
    later = NOW + timedelta(minutes=1)
    failing = WorkerHarness(
        MemoryStore(an_action(due_at=later)), {"action": RecordingProvider(TimeoutError("down"))}
    )
    failing.breakers, failing.clock.at = harness.breakers, later
    failing.run()
    assert failing.report.provider_reached_at == NOW


@pytest.mark.parametrize("task", [a_task(), an_action(payload={})], ids=["reminder", "none named"])
def test_a_task_without_a_provider_reports_none(task: Task) -> None:
    provider = RecordingProvider(TimeoutError("down"))
    harness = WorkerHarness(MemoryStore(task), {"action": provider, "reminder": provider})
    harness.run()
    assert harness.report.provider_reached_at is None
