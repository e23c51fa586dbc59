"""The worker's use case: claim a task, run its phases, and commit it or report its failure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, TypeVar

from duecourse.domain.dispatch.timing import Dispatch, is_early
from duecourse.domain.errors import (
    NotConfiguredError,
    NotRecordedError,
    StaleTaskError,
    SubjectPermanentlyFailedError,
    UnknownTaskError,
)
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.failure_report import FailureReport
from duecourse.domain.failures.subject import Subject
from duecourse.domain.lifecycle.run_transitions import (
    Lease,
    claim,
    commit,
    current_run,
    defer,
    retryable_run,
)
from duecourse.domain.lifecycle.verification import request_verification
from duecourse.domain.origin import Effect
from duecourse.domain.tasks.handler import Handler, RunContext, capabilities_of
from duecourse.domain.tasks.run import ProviderCall, Run
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait_text import describe_wait
from duecourse.domain.time.instant import truncate_to_millisecond
from duecourse.ports.chat import QuietHoursStore
from duecourse.ports.limits import CircuitBreakerStore
from duecourse.ports.queues import FailureQueue, WorkQueue
from duecourse.ports.runtime import Backoff, Clock
from duecourse.ports.tasks import Subjects, TaskStore
from duecourse.usecases.limits.circuit_breaker import record_result
from duecourse.usecases.runs.check_admission import check_admission
from duecourse.usecases.runs.phase_runner import PhaseRunner, origin_of
from duecourse.usecases.runs.verify_task import Verdict, VerificationDeps, verify_task
from duecourse.usecases.tasks.enqueue_if_due_soon import enqueue_if_due_soon
from duecourse.usecases.tasks.save_with_subject import save_success

T = TypeVar("T")


class RunOutcome(StrEnum):
    DELIVERED = "delivered"
    FAILED = "failed"
    DUPLICATE = "duplicate"
    REQUEUED_EARLY = "requeued_early"
    DEFERRED = "deferred"
    REROUTED = "rerouted"
    AWAITING_VERIFICATION = "awaiting_verification"
    VERIFICATION_CHECKED = "verification_checked"


@dataclass(frozen=True)
class ExecutionResult:
    outcome: RunOutcome
    run_id: str | None = None
    lateness: timedelta | None = None
    error: str | None = None
    call: ProviderCall | None = None


@dataclass(frozen=True)
class WorkerDeps:
    """Dependencies and settings of a worker. `time_limit` is the time one attempt may take."""

    store: TaskStore
    subjects: Subjects
    queue: WorkQueue
    slow_queue: WorkQueue
    failure_queue: FailureQueue
    breakers: CircuitBreakerStore
    quiet_hours: QuietHoursStore
    handlers: Mapping[str, Handler]
    verification_deps: VerificationDeps
    clock: Clock
    new_id: Callable[[], str]
    lease: timedelta
    version: str
    time_limit: timedelta
    verification_timeout: timedelta
    backoff: Backoff = lambda _: None


def execute_task(dispatch: Dispatch, deps: WorkerDeps, *, is_slow_queue: bool) -> ExecutionResult:
    """Run the task that `dispatch` names, if the dispatch is current.

    Duplicate, late and stale messages have no effect. A message that arrives early is requeued.
    Anything but a reminder is rerouted to the slow queue, so that it does not delay reminders.
    """
    clock = deps.clock
    if is_early(dispatch.due_at, now=clock.now()):
        deps.queue.send([dispatch], now=clock.now())
        return ExecutionResult(RunOutcome.REQUEUED_EARLY)
    task = _load_if_current(dispatch, deps.store)
    if task is None:
        return ExecutionResult(RunOutcome.DUPLICATE)
    if not task.is_reminder and not is_slow_queue:
        deps.slow_queue.send([dispatch], now=clock.now())
        return ExecutionResult(RunOutcome.REROUTED)
    clock.sleep_until(dispatch.due_at)
    if task.status is Status.PENDING_VERIFICATION:
        return _verify(task, deps)
    subject = deps.subjects.get(task.subject) if task.subject else None
    if (ran := _defer_if_not_admitted(task, subject, deps)) is not None:
        return ran
    mine = _claim(task, deps)
    if mine is None:
        return ExecutionResult(RunOutcome.DUPLICATE)
    return _run_attempt(mine, subject, deps)


def _load_if_current(dispatch: Dispatch, store: TaskStore) -> Task | None:
    """Return the task if it is still scheduled for the due time of `dispatch`, else None."""
    try:
        task = store.get(dispatch.task_id)
    except UnknownTaskError:
        return None
    return task if task.is_scheduled and task.due_at == dispatch.due_at else None


def _verify(task: Task, deps: WorkerDeps) -> ExecutionResult:
    verdict = verify_task(task, deps.verification_deps)
    is_mine = verdict is not Verdict.CONFLICT
    return ExecutionResult(
        RunOutcome.VERIFICATION_CHECKED if is_mine else RunOutcome.DUPLICATE, current_run(task).id
    )


def _defer_if_not_admitted(
    task: Task, subject: Subject | None, deps: WorkerDeps
) -> ExecutionResult | None:
    """Defer the task if it may not run yet. Deferring does not count as a retry."""
    now = truncate_to_millisecond(deps.clock.now())
    obstacle = check_admission(
        task, subject, breakers=deps.breakers, quiet_hours=deps.quiet_hours, now=now
    )
    if obstacle is None:
        return None
    after = defer(task, until=obstacle.until, wait=obstacle.wait)
    try:
        deps.store.save(task, after)
    except StaleTaskError:
        return ExecutionResult(RunOutcome.DUPLICATE)
    enqueue_if_due_soon(after, queue=deps.queue, now=now)
    return ExecutionResult(RunOutcome.DEFERRED, error=describe_wait(obstacle.wait))


def _claim(task: Task, deps: WorkerDeps) -> Task | None:
    """Take the lease on the task. Return None if another worker was faster."""
    now = truncate_to_millisecond(deps.clock.now())
    lease = Lease(run_id=deps.new_id(), expires_at=now + deps.lease, handler_version=deps.version)
    mine = claim(task, lease, capabilities_of(_handler_for(task, deps), task), at=now)
    try:
        deps.store.save(task, mine, ended_run=retryable_run(task))
    except StaleTaskError:
        return None
    return mine


class _MissingHandler(Handler):
    """Stands in for the handler of a task type that is no longer deployed.

    Its tasks fail, and can be retried once the handler is deployed again.
    """

    def mutate(self, context: RunContext) -> Any:
        raise NotConfiguredError("handler", context.task.type)

    def emit(self, context: RunContext) -> None:
        self.mutate(context)


def _handler_for(task: Task, deps: WorkerDeps) -> Handler:
    return deps.handlers.get(task.type) or _MissingHandler()


def _run_attempt(task: Task, subject: Subject | None, deps: WorkerDeps) -> ExecutionResult:
    attempt = PhaseRunner(
        task,
        _handler_for(task, deps),
        store=deps.store,
        clock=deps.clock,
        deadline=deps.clock.now() + deps.time_limit,
    )
    try:
        outcome = _run_phases(attempt, subject, deps)
    except StaleTaskError:
        raise  # lease lost: the effect may have happened, and the sweeper recovers the run
    except Exception as error:  # noqa: BLE001 - whatever a handler raises is this task's failure
        return _report_failure(attempt, error, deps)
    late = truncate_to_millisecond(deps.clock.now()) - task.due_at
    return ExecutionResult(outcome, attempt.run.id, lateness=late, call=attempt.context.call)


def _run_phases(runner: PhaseRunner, subject: Subject | None, deps: WorkerDeps) -> RunOutcome:
    if subject is not None and subject.is_given_up and runner.effect is Effect.NONE:
        raise SubjectPermanentlyFailedError(subject.id, subject.last_error_category)
    runner.run_mutation()
    if runner.task.verify and not runner.run.is_verified:
        _request_verification(runner, deps)
        return RunOutcome.AWAITING_VERIFICATION
    runner.run_emit()
    _commit(runner, deps)
    return RunOutcome.DELIVERED


def _report_failure(runner: PhaseRunner, error: Exception, deps: WorkerDeps) -> ExecutionResult:
    """Send the failure report.

    If sending raises, the message stays on the queue and the lease stays in force until it expires.
    """
    failed_at = truncate_to_millisecond(deps.clock.now())
    failure = Failure.from_exception(error, phase=str(runner.run.phase), at=failed_at)
    deps.failure_queue.send(
        FailureReport(
            task_id=runner.task.id,
            run_id=runner.run.id,
            failure=failure,
            failed_at=failed_at,
            origin=origin_of(error),
            effect=runner.effect,
            call=runner.context.call,
            result=runner.result_to_report if isinstance(error, NotRecordedError) else None,
        )
    )
    return ExecutionResult(
        RunOutcome.FAILED, runner.run.id, error=failure.summary, call=runner.context.call
    )


def _request_verification(runner: PhaseRunner, deps: WorkerDeps) -> None:
    """Store the result and set the task to wait for verification."""
    now = truncate_to_millisecond(deps.clock.now())
    done = replace(runner.task, run=_run_with_call(runner))
    after = request_verification(
        done, runner.context.result, at=now, verify_until=now + deps.verification_timeout
    )
    _persist_or_report(lambda: deps.store.save(runner.task, after))
    enqueue_if_due_soon(after, queue=deps.queue, now=now)
    _report_success_to_breaker(runner, deps, now=now)


def _commit(runner: PhaseRunner, deps: WorkerDeps) -> None:
    task, now = runner.task, truncate_to_millisecond(deps.clock.now())
    done = replace(task, run=_run_with_call(runner))

    def save() -> Task:
        after = commit(done, runner.context.result, at=now)
        save_success(
            task, after, store=deps.store, subjects=deps.subjects, backoff=deps.backoff, at=now
        )
        return after

    after = _persist_or_report(save)
    enqueue_if_due_soon(after, queue=deps.queue, now=now)
    _report_success_to_breaker(runner, deps, now=now)


def _report_success_to_breaker(runner: PhaseRunner, deps: WorkerDeps, *, now: datetime) -> None:
    """Report a success to the breaker, unless this run only resumed and made no provider call."""
    provider, began_at = runner.task.provider, runner.run.started_at
    if provider is not None and runner.context.call is not None:
        record_result(provider, is_down=False, started_at=began_at, breakers=deps.breakers, now=now)


def _run_with_call(runner: PhaseRunner) -> Run:
    return replace(runner.run, call=runner.context.call or runner.run.call)


def _persist_or_report(write: Callable[[], T]) -> T:
    """Call `write`. Wrap an error in NotRecordedError, so that finished work is not repeated.

    StaleTaskError passes through: another worker holds the task now.
    """
    try:
        return write()
    except StaleTaskError:
        raise
    except Exception as error:
        raise NotRecordedError(error) from error
