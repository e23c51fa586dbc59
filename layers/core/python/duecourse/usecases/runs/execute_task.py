"""The worker's part: claim the task, perform it, commit it or report why it failed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, TypeVar

from duecourse.domain.dispatch.timing import Dispatch, is_early
from duecourse.domain.errors import (
    NotRecordedError,
    NotSetUpError,
    StaleTaskError,
    SubjectGaveUpError,
    UnknownTaskError,
)
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.failure_report import FailureReport
from duecourse.domain.failures.subject import Subject
from duecourse.domain.lifecycle.run_transitions import (
    Lease,
    claimed,
    committed,
    parked,
    run_to_try_again,
    running,
)
from duecourse.domain.lifecycle.verification import to_be_verified
from duecourse.domain.origin import Effect
from duecourse.domain.tasks.handler import Handler, Work, manner_of
from duecourse.domain.tasks.run import Call, Run
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait_text import describe_wait
from duecourse.domain.time.instant import to_millisecond
from duecourse.ports.chat import QuietHours
from duecourse.ports.limits import Breakers
from duecourse.ports.queues import FailureQueue, WorkQueue
from duecourse.ports.runtime import Clock, Pause
from duecourse.ports.tasks import Subjects, TaskStore
from duecourse.usecases.limits.circuit_breaker import report
from duecourse.usecases.runs.check_admission import find_obstacle
from duecourse.usecases.runs.phase_runner import Attempt, origin_of
from duecourse.usecases.runs.verify_task import Court, Verdict, verify_task
from duecourse.usecases.tasks.enqueue_if_due_soon import send_if_soon
from duecourse.usecases.tasks.save_with_subject import settle

T = TypeVar("T")


class Outcome(StrEnum):
    DELIVERED = "delivered"
    FAILED = "failed"
    DUPLICATE = "duplicate"
    EARLY = "early"
    PARKED = "parked"
    SENT_ON = "sent_on"
    TO_BE_VERIFIED = "to_be_verified"
    VERIFIED = "verified"


@dataclass(frozen=True)
class Ran:
    outcome: Outcome
    run_id: str | None = None
    late: timedelta | None = None
    error: str | None = None
    call: Call | None = None


@dataclass(frozen=True)
class Worker:
    """All that a run needs besides its message. `time_limit` is what one attempt may take."""

    store: TaskStore
    subjects: Subjects
    queue: WorkQueue
    slow_queue: WorkQueue
    failures: FailureQueue
    breakers: Breakers
    quiet_hours: QuietHours
    handlers: Mapping[str, Handler]
    court: Court
    clock: Clock
    new_id: Callable[[], str]
    lease: timedelta
    version: str
    time_limit: timedelta
    verify_within: timedelta
    pause: Pause = lambda _: None


def run_task(dispatch: Dispatch, worker: Worker, *, is_slow_lane: bool) -> Ran:
    """Every duplicate, late or stale message ends here without an effect.

    What may take long is not run where others wait behind it.
    """
    clock = worker.clock
    if is_early(dispatch.due_at, now=clock.now()):
        worker.queue.send([dispatch], now=clock.now())
        return Ran(Outcome.EARLY)
    task = _meant(dispatch, worker.store)
    if task is None:
        return Ran(Outcome.DUPLICATE)
    if not task.is_reminder and not is_slow_lane:
        worker.slow_queue.send([dispatch], now=clock.now())
        return Ran(Outcome.SENT_ON)
    clock.sleep_until(dispatch.due_at)
    if task.status is Status.PENDING_VERIFICATION:
        return _verified(task, worker)
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
    return task if task.falls_due and task.due_at == dispatch.due_at else None


def _verified(task: Task, worker: Worker) -> Ran:
    verdict = verify_task(task, worker.court)
    is_mine = verdict is not Verdict.SOMEBODY_ELSES
    return Ran(Outcome.VERIFIED if is_mine else Outcome.DUPLICATE, running(task).id)


def _kept_from_running(task: Task, subject: Subject | None, worker: Worker) -> Ran | None:
    """Something it needs is not there yet: it is put off, and the wait costs no retry."""
    now = to_millisecond(worker.clock.now())
    obstacle = find_obstacle(
        task, subject, breakers=worker.breakers, quiet_hours=worker.quiet_hours, now=now
    )
    if obstacle is None:
        return None
    after = parked(task, until=obstacle.until, wait=obstacle.wait)
    try:
        worker.store.save(task, after)
    except StaleTaskError:
        return Ran(Outcome.DUPLICATE)
    send_if_soon(after, queue=worker.queue, now=now)
    return Ran(Outcome.PARKED, error=describe_wait(obstacle.wait))


def _claim(task: Task, worker: Worker) -> Task | None:
    now = to_millisecond(worker.clock.now())
    lease = Lease(
        owner=worker.new_id(), expires_at=now + worker.lease, handler_version=worker.version
    )
    mine = claimed(task, lease, manner_of(_handler(task, worker), task), at=now)
    try:
        worker.store.save(task, mine, ended=run_to_try_again(task))
    except StaleTaskError:
        return None
    return mine


class _NoHandler(Handler):
    """Of a type that a deployment took away: its tasks fail, and can be retried when it is back."""

    def mutate(self, work: Work) -> Any:
        raise NotSetUpError("handler", work.task.type)

    def emit(self, work: Work) -> None:
        self.mutate(work)


def _handler(task: Task, worker: Worker) -> Handler:
    return worker.handlers.get(task.type) or _NoHandler()


def _perform(task: Task, subject: Subject | None, worker: Worker) -> Ran:
    attempt = Attempt(
        task,
        _handler(task, worker),
        store=worker.store,
        clock=worker.clock,
        deadline=worker.clock.now() + worker.time_limit,
    )
    try:
        outcome = _walk(attempt, subject, worker)
    except StaleTaskError:
        raise  # the lease was lost: the effect may have happened, and the sweeper has taken over
    except Exception as error:  # noqa: BLE001 - whatever a handler raises is this task's failure
        return _report(attempt, error, worker)
    late = to_millisecond(worker.clock.now()) - task.due_at
    return Ran(outcome, attempt.run.id, late=late, call=attempt.work.call)


def _walk(attempt: Attempt, subject: Subject | None, worker: Worker) -> Outcome:
    if subject is not None and subject.was_given_up and attempt.effect is Effect.NONE:
        raise SubjectGaveUpError(subject.id, subject.last_error_category)
    attempt.bring_about()
    if attempt.task.verify and not attempt.run.is_verified:
        _ask_for_a_verdict(attempt, worker)
        return Outcome.TO_BE_VERIFIED
    attempt.tell_others()
    _commit(attempt, worker)
    return Outcome.DELIVERED


def _report(attempt: Attempt, error: Exception, worker: Worker) -> Ran:
    """Only when the queue has taken it may the message go. Until then the lease stands for it."""
    failed_at = to_millisecond(worker.clock.now())
    failure = Failure.from_exception(error, phase=str(attempt.run.phase), at=failed_at)
    worker.failures.send(
        FailureReport(
            task_id=attempt.task.id,
            run_id=attempt.run.id,
            failure=failure,
            failed_at=failed_at,
            origin=origin_of(error),
            effect=attempt.effect,
            call=attempt.work.call,
            result=attempt.result_to_report if isinstance(error, NotRecordedError) else None,
        )
    )
    return Ran(Outcome.FAILED, attempt.run.id, error=failure.summary, call=attempt.work.call)


def _ask_for_a_verdict(attempt: Attempt, worker: Worker) -> None:
    now = to_millisecond(worker.clock.now())
    done = replace(attempt.task, run=_with_call(attempt))
    after = to_be_verified(done, attempt.work.result, at=now, verify_by=now + worker.verify_within)
    _recorded(lambda: worker.store.save(attempt.task, after))
    send_if_soon(after, queue=worker.queue, now=now)
    _tell_breaker(attempt, worker, now=now)


def _commit(attempt: Attempt, worker: Worker) -> None:
    task, now = attempt.task, to_millisecond(worker.clock.now())
    done = replace(task, run=_with_call(attempt))

    def change(subject: Subject | None) -> tuple[Task, Subject | None]:
        after = committed(done, attempt.work.result, at=now)
        return after, subject.succeeded(at=now) if subject else None

    def save() -> Task:
        return settle(
            task, change, store=worker.store, subjects=worker.subjects, pause=worker.pause
        )

    after = _recorded(save)
    send_if_soon(after, queue=worker.queue, now=now)
    _tell_breaker(attempt, worker, now=now)


def _tell_breaker(attempt: Attempt, worker: Worker, *, now: datetime) -> None:
    """A run that only took up where another was lost has asked nobody."""
    provider, began_at = attempt.task.provider, attempt.run.started_at
    if provider is not None and attempt.work.call is not None:
        report(provider, is_down=False, began_at=began_at, breakers=worker.breakers, now=now)


def _with_call(attempt: Attempt) -> Run:
    return replace(attempt.run, call=attempt.work.call or attempt.run.call)


def _recorded(write: Callable[[], T]) -> T:
    """What was done must not be done again because it could not be written down."""
    try:
        return write()
    except StaleTaskError:
        raise
    except Exception as error:
        raise NotRecordedError(error) from error
