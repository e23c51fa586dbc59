"""Many concurrent failures of one subject: each is counted once."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from itertools import count

import pytest
from duecourse.adapters.aws.dynamodb.circuit_breakers import DynamoCircuitBreakerStore
from duecourse.adapters.aws.dynamodb.subjects import DynamoSubjects
from duecourse.adapters.aws.dynamodb.task_store import DynamoTaskStore
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.failure_report import FailureReport
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.usecases.failures.record_failure import FailureDeps, record_failure
from duecourse.usecases.failures.throttle_retry import RetryThrottle
from duecourse.usecases.limits.circuit_breaker import BreakerDeps

from local.runtime.call_interceptor import attribute_calls_to
from tests.contract.conftest import RETENTION, SHARDS
from tests.support.builders.failures import a_failure_report, builtin_policies
from tests.support.builders.moments import DAY, MILLISECOND, NOW
from tests.support.builders.tasks import an_action, claim_task
from tests.support.failure_deps import RETRY_LIMIT, learning_deps
from tests.support.fakes.clock import ManualClock
from tests.support.fakes.queues import ListQueue

pytestmark = pytest.mark.usefixtures("serialize_calls")
TASKS = 200
CONNECTION_REFUSED = Failure.create("connect ECONNREFUSED 127.0.0.1:5432", code="ECONNREFUSED")


class TickingClock(ManualClock):
    """Each call returns another time, so that concurrent writes differ."""

    def __init__(self) -> None:
        super().__init__(NOW)
        self._ticks = count()

    def now(self) -> datetime:
        return self.at + next(self._ticks) * MILLISECOND


@pytest.fixture
def store() -> DynamoTaskStore:
    return DynamoTaskStore(shard_count=SHARDS, retention=RETENTION)


class UnthrottledRetries(RetryThrottle):
    """Throttles nothing: moto scans all tasks for it, and no test here needs it."""

    def find_time(self, task: Task, due_at: datetime, *, now: datetime) -> datetime:  # noqa: ARG002
        return due_at


@pytest.fixture
def deps(store: DynamoTaskStore) -> FailureDeps:
    return FailureDeps(
        store=store,
        subjects=DynamoSubjects(),
        queue=ListQueue(),
        breakers=BreakerDeps(DynamoCircuitBreakerStore(ManualClock(NOW), retention=RETENTION)),
        policies=builtin_policies(),
        clock=TickingClock(),
        throttle=UnthrottledRetries(store, RETRY_LIMIT),
        learning=learning_deps(),
        max_uncounted_wait=7 * DAY,
    )


def create_running_tasks(store: DynamoTaskStore) -> list[Task]:
    tasks = [
        an_action(id=f"{n:08x}-0000-4000-8000-000000000000", subject="story-1", payload={})
        for n in range(TASKS)
    ]
    for task in tasks:
        store.create(task)
        store.save(task, claim_task(task, f"run-{task.id}"))
    return [claim_task(task, f"run-{task.id}") for task in tasks]


def record_in_parallel(reports: Sequence[FailureReport], deps: FailureDeps) -> int:
    """Record them eight at a time and return how many counted."""

    def record_one(report: FailureReport) -> bool:
        with attribute_calls_to("failure"):
            return record_failure(report, deps) is not None

    with ThreadPoolExecutor(8) as pool:
        return sum(pool.map(record_one, reports))


def test_200_concurrent_failures_reported_twice_are_each_counted_once(
    store: DynamoTaskStore, deps: FailureDeps
) -> None:
    tasks = create_running_tasks(store)
    reports = [a_failure_report(task, CONNECTION_REFUSED) for task in tasks for _ in range(2)]

    assert record_in_parallel(reports, deps) == TASKS

    subject = deps.subjects.get("story-1")
    assert (subject.failure_count, subject.version) == (TASKS, TASKS)
    after = [store.get(task.id) for task in tasks]
    assert {(task.status, task.retry_count) for task in after} == {(Status.PENDING, 1)}
