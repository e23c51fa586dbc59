"""Recover overdue tasks: runs whose lease expired, and tasks whose queue message was lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta

from duecourse.domain.dispatch.timing import Dispatch
from duecourse.domain.lifecycle.lease import lease_expired, lease_expired_report
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import truncate_to_millisecond
from duecourse.ports.queues import FailureQueue, WorkQueue
from duecourse.ports.runtime import Clock
from duecourse.ports.tasks import TaskStore
from duecourse.usecases.tasks.read_tasks import read_tasks

GRACE_PERIOD = timedelta(seconds=60)


@dataclass
class RecoveryResult:
    runs_recovered: int = 0
    overdue_tasks_requeued: int = 0


@dataclass(frozen=True)
class SweepDeps:
    store: TaskStore
    queue: WorkQueue
    failure_queue: FailureQueue
    clock: Clock
    has_time: Callable[[], bool] = lambda: True


def recover_expired_leases(deps: SweepDeps, shards: Iterable[int]) -> RecoveryResult:
    """Report every expired lease as a failure, and requeue due tasks that no worker has claimed.

    Goes through the overdue tasks of each shard, oldest first. Stops when time runs out;
    the next sweep continues.
    """
    result = RecoveryResult()
    for shard in shards:
        overdue = deps.store.list_due(shard, start=None, end=deps.clock.now() - GRACE_PERIOD)
        for task in read_tasks((dispatch.task_id for dispatch in overdue), deps.store):
            if not deps.has_time():
                return result
            _recover(task, result, deps)
    return result


def _recover(task: Task, result: RecoveryResult, deps: SweepDeps) -> None:
    now = truncate_to_millisecond(deps.clock.now())
    if lease_expired(task, at=now):
        deps.failure_queue.send(lease_expired_report(task))
        result.runs_recovered += 1
    elif task.is_scheduled and task.due_at <= now:
        deps.queue.send([Dispatch(task.due_at, task.id)], now=now)
        result.overdue_tasks_requeued += 1
