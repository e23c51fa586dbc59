"""Recover overdue tasks: runs whose lease expired, and tasks whose queue message was lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from duecourse.domain.lifecycle.lease import lease_expired, lease_expired_report
from duecourse.domain.lifecycle.task_lane import dispatch_of
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import truncate_to_millisecond
from duecourse.ports.queues import FailureQueue, WorkQueue
from duecourse.ports.runtime import Clock
from duecourse.ports.tasks import TaskStore
from duecourse.usecases.tasks.read_tasks import read_batches

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


def recover_expired_leases(deps: SweepDeps, partitions: Iterable[int]) -> RecoveryResult:
    """Report every expired lease as a failure, and requeue due tasks that no worker has claimed.

    Goes through the overdue tasks of each partition, oldest first. Stops when time runs out;
    the next sweep continues.
    """
    result = RecoveryResult()
    for partition in partitions:
        overdue = deps.store.list_due(partition, start=None, end=deps.clock.now() - GRACE_PERIOD)
        for batch in read_batches((dispatch.task_id for dispatch in overdue), deps.store):
            if not deps.has_time():
                return result
            _recover(batch, result, deps)
    return result


def _recover(tasks: Sequence[Task], result: RecoveryResult, deps: SweepDeps) -> None:
    now = truncate_to_millisecond(deps.clock.now())
    expired = [task for task in tasks if lease_expired(task, at=now)]
    deps.failure_queue.send_all([lease_expired_report(task) for task in expired])
    result.runs_recovered += len(expired)
    unclaimed = [task for task in tasks if task.is_scheduled and task.due_at <= now]
    result.overdue_tasks_requeued += deps.queue.send(map(dispatch_of, unclaimed), now=now)
