"""The worker's part: claim the task, perform it, commit it or record why it failed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from duecourse.domain.attempt import Lease, claimed, committed, failed, running
from duecourse.domain.dispatch import Dispatch, is_early
from duecourse.domain.errors import StaleTaskError, UnknownTaskError
from duecourse.domain.failure import Failure
from duecourse.domain.instant import to_millisecond
from duecourse.domain.task import Task
from duecourse.ports import Clock, Handler, TaskStore, WorkQueue
from duecourse.usecases.send_if_soon import send_if_soon


class Outcome(StrEnum):
    DELIVERED = "delivered"
    FAILED = "failed"
    DUPLICATE = "duplicate"
    EARLY = "early"


@dataclass(frozen=True)
class Ran:
    outcome: Outcome
    run_id: str | None = None
    late: timedelta | None = None
    error: str | None = None


@dataclass(frozen=True)
class Worker:
    """All that a run needs besides its message."""

    store: TaskStore
    queue: WorkQueue
    handlers: Mapping[str, Handler]
    clock: Clock
    new_id: Callable[[], str]
    lease: timedelta
    version: str


def run_task(dispatch: Dispatch, worker: Worker) -> Ran:
    """Every duplicate, late or stale message ends here without an effect."""
    clock = worker.clock
    if is_early(dispatch.due_at, now=clock.now()):
        worker.queue.send([dispatch], now=clock.now())
        return Ran(Outcome.EARLY)
    task = _meant(dispatch, worker.store)
    if task is None:
        return Ran(Outcome.DUPLICATE)
    clock.sleep_until(dispatch.due_at)
    mine = _claim(task, worker)
    if mine is None:
        return Ran(Outcome.DUPLICATE)
    return _perform(mine, worker)


def _meant(dispatch: Dispatch, store: TaskStore) -> Task | None:
    try:
        task = store.get(dispatch.task_id)
    except UnknownTaskError:
        return None
    return task if task.is_waiting and task.due_at == dispatch.due_at else None


def _claim(task: Task, worker: Worker) -> Task | None:
    now = to_millisecond(worker.clock.now())
    lease = Lease(
        owner=worker.new_id(), expires_at=now + worker.lease, handler_version=worker.version
    )
    mine = claimed(task, lease, at=now)
    try:
        worker.store.save(task, mine)
    except StaleTaskError:
        return None
    return mine


def _perform(task: Task, worker: Worker) -> Ran:
    run = running(task)
    try:
        result = worker.handlers[task.type].mutate(task, key=run.mutation.key)
    except Exception as error:  # noqa: BLE001 - whatever a handler raises is this task's failure
        failure = Failure.from_exception(error)
        _settle(task, failed(task, failure, at=to_millisecond(worker.clock.now())), worker)
        return Ran(Outcome.FAILED, run.id, error=failure.message)
    now = to_millisecond(worker.clock.now())
    _settle(task, committed(task, result, at=now), worker)
    return Ran(Outcome.DELIVERED, run.id, late=now - task.due_at)


def _settle(task: Task, after: Task, worker: Worker) -> None:
    """A lost lease raises: the effect may have happened, and the sweeper has taken over."""
    worker.store.save(task, after)
    send_if_soon(after, queue=worker.queue, now=worker.clock.now())
