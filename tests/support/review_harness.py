"""A task with a spec, its review and the use case that syncs them, in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from duecourse.domain.failures.failure import Failure
from duecourse.domain.journal.history import events_between
from duecourse.domain.lifecycle import run_transitions, user_actions
from duecourse.domain.lifecycle.spec_review import is_review
from duecourse.domain.tasks.event import Event
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.usecases.dispatch.expire_blocked import expire_blocked_tasks
from duecourse.usecases.failures.reclassify_task import reclassify_task
from duecourse.usecases.failures.record_failure import FailureDeps, record_failure
from duecourse.usecases.runs.recover_expired_leases import SweepDeps
from duecourse.usecases.tasks.sync_waiting_task import WaitSyncDeps, sync_waiting_task

from tests.support.builders.failures import a_failure_report
from tests.support.builders.moments import DAY, NOW
from tests.support.builders.tasks import ID, an_action, claim_task
from tests.support.failure_deps import failure_deps
from tests.support.fakes.clock import ManualClock
from tests.support.fakes.queues import ListFailures, ListQueue
from tests.support.fakes.tasks import MemoryStore

TYPE_ERROR = Failure.create('file.ts(45,12): error TS2304: Cannot find name "foo"')  # code_error
SUCCESS = "Say which foo is meant.\nACTION_OUTCOME: success"


class StreamedStore(MemoryStore):
    """Records each change, as the table's stream does."""

    def __init__(self, *tasks: Task) -> None:
        super().__init__(*tasks)
        self.changes: list[tuple[Task | None, Task]] = []

    def save(self, before: Task, after: Task, **fields: Any) -> None:
        super().save(before, after, **fields)
        created = [fields["new_task"]] if fields.get("new_task") else []
        self.changes += [(before, after), *((None, task) for task in created)]


class ReviewHarness:
    def __init__(self, **fields: Any) -> None:
        payload = {"provider": "scripted", "spec": "x"}
        self.store = StreamedStore(an_action(**{"payload": payload, **fields}))
        self.queue = ListQueue()
        self.clock = ManualClock(NOW)
        self.run_count = 0
        self.events: list[Event] = []

    @property
    def task(self) -> Task:
        return self.store.tasks[ID]

    @property
    def review(self) -> Task:
        [review] = self.reviews
        return review

    @property
    def reviews(self) -> list[Task]:
        return [task for task in self.store.tasks.values() if is_review(task)]

    @property
    def failure_deps(self) -> FailureDeps:
        return failure_deps(self.store, queue=self.queue, clock=self.clock)

    @property
    def sync_deps(self) -> WaitSyncDeps:
        return WaitSyncDeps(self.store, self.queue, self.clock)

    def claim(self, task: Task) -> Task:
        self.run_count += 1
        running = claim_task(task, f"run-{self.run_count}", at=self.clock.at)
        self.store.save(task, running)
        return running

    def fail(self, task: Task, failure: Failure = TYPE_ERROR, **fields: Any) -> Task:
        self.clock.at = max(self.clock.at, task.due_at)
        running = task if task.status is Status.IN_PROGRESS else self.claim(task)
        report = replace(a_failure_report(running, failure, at=self.clock.at), **fields)
        assert record_failure(report, self.failure_deps)
        return self.store.tasks[task.id]

    def block_for_review(self) -> Task:
        """Fail three times with a code error."""
        for _ in range(3):
            self.fail(self.task)
        return self.task

    def complete(self, task: Task, reply: str = SUCCESS) -> Task:
        running = task if task.status is Status.IN_PROGRESS else self.claim(task)
        committed = run_transitions.commit(running, {"reply": reply}, at=self.clock.at)
        self.store.save(running, committed)
        return committed

    def apply_change(self, task: Task, transition: Callable[..., Task]) -> Task:
        after = transition(task, at=self.clock.at)
        self.store.save(task, after)
        return after

    def cancel(self, task: Task) -> Task:
        return self.apply_change(task, user_actions.cancel)

    def reclassify(self, category: str) -> Task:
        return reclassify_task(self.task, category, self.failure_deps)

    def process_changes(self, *, times: int = 1) -> None:
        """Process all recorded changes, and the changes that follow from them."""
        while self.store.changes:
            old, new = self.store.changes.pop(0)
            if old is not None:
                self.events += events_between(old, new, at=self.clock.at)
            for _ in range(times):
                sync_waiting_task(old, new, self.sync_deps)

    def sweep(self, after: timedelta = timedelta(0), blocked_for: timedelta = DAY) -> int:
        self.clock.at += after
        return expire_blocked_tasks(self.sweep_deps(lambda: True), blocked_for)

    def sweep_deps(self, has_time: Callable[[], bool]) -> SweepDeps:
        return SweepDeps(self.store, self.queue, ListFailures(), self.clock, has_time)

    def take_dispatched_ids(self) -> list[str]:
        ids = [dispatch.task_id for dispatch in self.queue]
        self.queue.clear()
        return ids

    def event_types(self) -> list[str]:
        return [event.type for event in self.events]
