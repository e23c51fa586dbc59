"""The backstop: what is overdue is either lost to a crash or was never dispatched."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta

from duecourse.domain.attempt import crashed, has_vanished
from duecourse.domain.dispatch import Dispatch
from duecourse.domain.errors import StaleTaskError, UnknownTaskError
from duecourse.domain.instant import to_millisecond
from duecourse.ports import Clock, TaskStore, WorkQueue

GRACE = timedelta(seconds=60)


@dataclass
class Swept:
    recovered: int = 0
    sent_again: int = 0
    given_up: int = 0


def sweep(
    *,
    store: TaskStore,
    queue: WorkQueue,
    clock: Clock,
    shards: Iterable[int],
    has_time: Callable[[], bool] = lambda: True,
) -> Swept:
    """Oldest first in each shard; what there is no time for, the next sweep finds again."""
    swept = Swept()
    for shard in shards:
        for dispatch in store.due(shard, start=None, end=clock.now() - GRACE):
            if not has_time():
                return swept
            _mend(dispatch, swept, store=store, queue=queue, clock=clock)
    return swept


def _mend(
    dispatch: Dispatch, swept: Swept, *, store: TaskStore, queue: WorkQueue, clock: Clock
) -> None:
    now = to_millisecond(clock.now())
    try:
        task = store.get(dispatch.task_id)
        if has_vanished(task, at=now):
            before, task = task, crashed(task, at=now)
            store.save(before, task)
            swept.recovered += 1
    except (UnknownTaskError, StaleTaskError):
        return  # it moved on while we looked
    if task.is_waiting and task.due_at <= now:
        queue.send([Dispatch(task.due_at, task.id)], now=now)
        swept.sent_again += 1
    elif not task.is_open:
        swept.given_up += 1
