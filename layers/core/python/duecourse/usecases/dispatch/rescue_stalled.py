"""The backstop: what is overdue is either lost to a crash or was never dispatched."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta

from duecourse.domain.dispatch.timing import Dispatch
from duecourse.domain.lifecycle.apply_failure import vanished
from duecourse.domain.lifecycle.run_transitions import has_vanished
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import to_millisecond
from duecourse.ports.queues import FailureQueue, WorkQueue
from duecourse.ports.runtime import Clock
from duecourse.ports.tasks import TaskStore
from duecourse.usecases.tasks.read_tasks import read_tasks

GRACE = timedelta(seconds=60)


@dataclass
class Swept:
    recovered: int = 0
    sent_again: int = 0


@dataclass(frozen=True)
class Sweeper:
    """All that a sweep needs besides its shards."""

    store: TaskStore
    queue: WorkQueue
    failures: FailureQueue
    clock: Clock
    has_time: Callable[[], bool] = lambda: True


def sweep(sweeper: Sweeper, shards: Iterable[int]) -> Swept:
    """Oldest first in each shard; what there is no time for, the next sweep finds again."""
    swept = Swept()
    for shard in shards:
        overdue = sweeper.store.due(shard, start=None, end=sweeper.clock.now() - GRACE)
        for task in read_tasks((dispatch.task_id for dispatch in overdue), sweeper.store):
            if not sweeper.has_time():
                return swept
            _mend(task, swept, sweeper)
    return swept


def _mend(task: Task, swept: Swept, sweeper: Sweeper) -> None:
    now = to_millisecond(sweeper.clock.now())
    if has_vanished(task, at=now):
        sweeper.failures.send(vanished(task))
        swept.recovered += 1
    elif task.falls_due and task.due_at <= now:
        sweeper.queue.send([Dispatch(task.due_at, task.id)], now=now)
        swept.sent_again += 1
