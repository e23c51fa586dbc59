"""A worker and the failure function in memory, with their state open to the test."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from duecourse.domain.dispatch.lanes import Lane
from duecourse.domain.dispatch.timing import Dispatch
from duecourse.domain.failures.failure_report import FailureReport
from duecourse.domain.failures.subject import Subject
from duecourse.domain.tasks.handler import ATTEMPT_TIMEOUT, Handler
from duecourse.domain.tasks.run import Run
from duecourse.domain.tasks.task import Task
from duecourse.usecases.failures.record_failure import record_failure
from duecourse.usecases.limits.circuit_breaker import BreakerDeps
from duecourse.usecases.runs.execute_task import ExecutionResult, execute_task
from duecourse.usecases.runs.worker_deps import WorkerDeps

from tests.support.builders.moments import DAY, NOW
from tests.support.builders.runs import LEASE, run_of
from tests.support.builders.tasks import ID
from tests.support.failure_deps import failure_deps
from tests.support.fakes.chat import MemoryQuietHours
from tests.support.fakes.clock import ManualClock
from tests.support.fakes.limits import MemoryBreakers
from tests.support.fakes.queues import ListFailures, ListQueue
from tests.support.fakes.tasks import MemoryStore
from tests.support.scripted_verifier import verification_deps


class WorkerHarness:
    """Runs the task with the id `ID` that the store holds."""

    def __init__(self, store: MemoryStore, handlers: Mapping[str, Handler]) -> None:
        self.store = store
        self.handlers = dict(handlers)
        self.queue = ListQueue()
        self.failures = ListFailures()
        self.breakers = BreakerDeps(MemoryBreakers())
        self.quiet_hours = MemoryQuietHours()
        self.clock = ManualClock(NOW)
        self.version = "1"
        self._runs = 0

    @property
    def task(self) -> Task:
        return self.store.get(ID)

    @property
    def last_run(self) -> Run:
        return run_of(self.task)

    @property
    def subject(self) -> Subject:
        return self.store.subjects.get("story-1")

    @property
    def report(self) -> FailureReport:
        return self.failures[-1]

    def new_id(self) -> str:
        self._runs += 1
        return f"run-{self._runs}"

    def run(self, *, due_at: datetime | None = None, lane: Lane | None = None) -> ExecutionResult:
        """Execute the task by a message for `due_at`, by default one that is current."""
        worker = WorkerDeps(
            store=self.store,
            subjects=self.store.subjects,
            queue=self.queue,
            slow_queue=self.queue,
            failure_queue=self.failures,
            breakers=self.breakers,
            quiet_hours=self.quiet_hours,
            handlers=self.handlers,
            verification_deps=verification_deps(self.store, self.queue, self.failures, self.clock),
            clock=self.clock,
            new_id=self.new_id,
            lease=LEASE,
            version=self.version,
            time_limit=ATTEMPT_TIMEOUT,
            verification_timeout=DAY,
            max_uncounted_wait=7 * DAY,
        )
        dispatch = Dispatch(due_at or self.task.due_at, ID, lane)
        return execute_task(dispatch, worker, is_slow_queue=True)

    def record(self, report: FailureReport | None = None) -> None:
        """Record the last report, or this one, as the failure function does."""
        deps = failure_deps(self.store, queue=self.queue, breakers=self.breakers, clock=self.clock)
        assert record_failure(report or self.report, deps) is not None
