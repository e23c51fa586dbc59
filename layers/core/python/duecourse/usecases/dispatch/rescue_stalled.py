"""The safety net: recover overdue tasks that a crash interrupted or that were never dispatched."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta

from duecourse.domain.dispatch.timing import Dispatch
from duecourse.domain.lifecycle.apply_failure import lease_expired_report
from duecourse.domain.lifecycle.run_transitions import lease_expired
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import truncate_to_millisecond
from duecourse.ports.queues import FailureQueue, WorkQueue
from duecourse.ports.runtime import Clock
from duecourse.ports.tasks import TaskStore
from duecourse.usecases.tasks.read_tasks import read_tasks

GRACE_PERIOD = timedelta(seconds=60)


@dataclass
class SweepResult:
    recovered: int = 0
    requeued: int = 0


@dataclass(frozen=True)
class SweepDeps:
    store: TaskStore
    queue: WorkQueue
    failure_queue: FailureQueue
    clock: Clock
    has_time: Callable[[], bool] = lambda: True


def rescue_stalled(deps: SweepDeps, shards: Iterable[int]) -> SweepResult:
    """Recover overdue tasks, oldest first in each shard; return how many of each kind.

    Stops when time runs out; the next sweep continues.
    """
    swept = SweepResult()
    for shard in shards:
        overdue = deps.store.list_due(shard, start=None, end=deps.clock.now() - GRACE_PERIOD)
        for task in read_tasks((dispatch.task_id for dispatch in overdue), deps.store):
            if not deps.has_time():
                return swept
            _rescue(task, swept, deps)
    return swept


def _rescue(task: Task, result: SweepResult, deps: SweepDeps) -> None:
    """Report an expired lease as a failure, or enqueue a due task again."""
    now = truncate_to_millisecond(deps.clock.now())
    if lease_expired(task, at=now):
        deps.failure_queue.send(lease_expired_report(task))
        result.recovered += 1
    elif task.is_scheduled and task.due_at <= now:
        deps.queue.send([Dispatch(task.due_at, task.id)], now=now)
        result.requeued += 1
