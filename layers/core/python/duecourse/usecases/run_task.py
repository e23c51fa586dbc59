"""The worker's part: claim the task, perform it, commit it or report why it failed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any

from duecourse.domain.attempt import Lease, claimed, committed, parked, running
from duecourse.domain.dispatch import Dispatch, is_early
from duecourse.domain.errors import StaleTaskError, SubjectGaveUpError, UnknownTaskError
from duecourse.domain.failure import Failure
from duecourse.domain.instant import to_millisecond
from duecourse.domain.origin import Origin
from duecourse.domain.report import FailureReport
from duecourse.domain.subject import Subject
from duecourse.domain.task import Task
from duecourse.ports import (
    Breakers,
    Clock,
    FailureQueue,
    Handler,
    Pause,
    Subjects,
    TaskStore,
    WorkQueue,
)
from duecourse.usecases.find_obstacle import find_obstacle
from duecourse.usecases.guard_provider import report
from duecourse.usecases.send_if_soon import send_if_soon
from duecourse.usecases.settle import settle


class Outcome(StrEnum):
    DELIVERED = "delivered"
    FAILED = "failed"
    DUPLICATE = "duplicate"
    EARLY = "early"
    PARKED = "parked"


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
    subjects: Subjects
    queue: WorkQueue
    failures: FailureQueue
    breakers: Breakers
    handlers: Mapping[str, Handler]
    clock: Clock
    new_id: Callable[[], str]
    lease: timedelta
    version: str
    pause: Pause = lambda _: None


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
    subject = worker.subjects.get(task.subject) if task.subject else None
    if (ran := _kept_from_running(task, subject, worker)) is not None:
        return ran
    mine = _claim(task, worker)
    if mine is None:
        return Ran(Outcome.DUPLICATE)
    return _perform(mine, subject, worker)


def _meant(dispatch: Dispatch, store: TaskStore) -> Task | None:
    try:
        task = store.get(dispatch.task_id)
    except UnknownTaskError:
        return None
    return task if task.is_waiting and task.due_at == dispatch.due_at else None


def _kept_from_running(task: Task, subject: Subject | None, worker: Worker) -> Ran | None:
    """Something it needs is not there yet: it is put off, and the wait costs no retry."""
    now = to_millisecond(worker.clock.now())
    obstacle = find_obstacle(task, subject, breakers=worker.breakers, now=now)
    if obstacle is None:
        return None
    after = parked(task, until=obstacle.until, waits_for=obstacle.reason)
    try:
        worker.store.save(task, after)
    except StaleTaskError:
        return Ran(Outcome.DUPLICATE)
    send_if_soon(after, queue=worker.queue, now=now)
    return Ran(Outcome.PARKED, error=obstacle.reason)


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


def _perform(task: Task, subject: Subject | None, worker: Worker) -> Ran:
    run = running(task)
    try:
        result = _effect(task, subject, worker)
    except Exception as error:  # noqa: BLE001 - whatever a handler raises is this task's failure
        now = worker.clock.now()
        failure = Failure.from_exception(error, phase=str(run.phase), at=now)
        _report(task, failure, worker, origin=getattr(error, "origin", Origin.WORK))
        return Ran(Outcome.FAILED, run.id, error=failure.summary)
    now = to_millisecond(worker.clock.now())
    _commit(task, result, worker)
    return Ran(Outcome.DELIVERED, run.id, late=now - task.due_at)


def _effect(task: Task, subject: Subject | None, worker: Worker) -> Any:
    if subject is not None and subject.was_given_up:
        raise SubjectGaveUpError(subject.id, subject.last_error_category)
    return worker.handlers[task.type].mutate(task, key=running(task).mutation.key)


def _report(task: Task, failure: Failure, worker: Worker, *, origin: Origin) -> None:
    """Only when the queue has taken it may the message go. Until then the lease stands for it."""
    failed_at = to_millisecond(worker.clock.now())
    worker.failures.send(
        FailureReport(
            task_id=task.id,
            run_id=running(task).id,
            failure=failure,
            failed_at=failed_at,
            origin=origin,
        )
    )


def _commit(task: Task, result: Any, worker: Worker) -> None:
    """A lost lease raises: the effect may have happened, and the sweeper has taken over."""
    now = to_millisecond(worker.clock.now())

    def change(subject: Subject | None) -> tuple[Task, Subject | None]:
        return committed(task, result, at=now), subject.succeeded(at=now) if subject else None

    after = settle(task, change, store=worker.store, subjects=worker.subjects, pause=worker.pause)
    send_if_soon(after, queue=worker.queue, now=now)
    if task.provider is not None:
        began_at = running(task).started_at
        report(task.provider, is_down=False, began_at=began_at, breakers=worker.breakers, now=now)
