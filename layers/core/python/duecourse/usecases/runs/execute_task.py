"""The worker's use case: claim a task, run its phases, and commit it or report its failure."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from duecourse.domain.dispatch.lanes import Lane
from duecourse.domain.dispatch.timing import Dispatch, is_early
from duecourse.domain.errors import (
    NotConfiguredError,
    StaleTaskError,
)
from duecourse.domain.lifecycle.current_run import current_run
from duecourse.domain.lifecycle.lease import Lease
from duecourse.domain.lifecycle.run_transitions import claim, defer, first_run
from duecourse.domain.lifecycle.uncounted_wait import (
    WaitedTooLongError,
    expired_wait,
    is_limited,
)
from duecourse.domain.tasks.handler import (
    Handler,
    RunContext,
    capabilities_of,
    fixed_capabilities_of,
)
from duecourse.domain.tasks.run import ProviderCall
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import REMINDER, Task
from duecourse.domain.time.instant import truncate_to_millisecond
from duecourse.usecases.runs.commit_run import commit_run
from duecourse.usecases.runs.load_current import load_if_current, peek_if_current
from duecourse.usecases.runs.phase_runner import PhaseRunner
from duecourse.usecases.runs.worker_deps import WorkerDeps
from duecourse.usecases.tasks.enqueue_if_due_soon import enqueue_if_due_soon

if TYPE_CHECKING:
    from duecourse.domain.failures.failure_report import FailureReport
    from duecourse.domain.failures.subject import Subject
    from duecourse.domain.tasks.wait import Wait
    from duecourse.ports.tasks import TaskStore


class RunOutcome(StrEnum):
    DELIVERED = "delivered"
    FAILED = "failed"
    DUPLICATE = "duplicate"
    REQUEUED_EARLY = "requeued_early"
    DEFERRED = "deferred"
    REROUTED = "rerouted"
    AWAITING_VERIFICATION = "awaiting_verification"
    VERIFICATION_CHECKED = "verification_checked"
    REPORTED_LATE = "reported_late"


@dataclass(frozen=True)
class ExecutionResult:
    """`follow_up_error`: what went wrong after the run was committed, which it remains."""

    outcome: RunOutcome
    run_id: str | None = None
    lateness: timedelta | None = None
    error: str | None = None
    call: ProviderCall | None = None
    follow_up_error: str | None = None


def execute_task(dispatch: Dispatch, deps: WorkerDeps, *, is_slow_queue: bool) -> ExecutionResult:
    """Run the task that `dispatch` names, if the dispatch is current.

    Duplicate, late and stale messages have no effect. A message that arrives early is requeued.
    Anything but a reminder is rerouted to the slow queue, so that it does not delay reminders.
    """
    clock = deps.clock
    if is_early(dispatch.due_at, now=clock.now()):
        deps.queue.send([dispatch], now=clock.now())
        return ExecutionResult(RunOutcome.REQUEUED_EARLY)
    if (new := _claim_if_new(dispatch, deps)) is not None:
        return _run_claimed(new, None, deps)
    # The cheap read may be outdated. Then the claim fails, or the task seems not to be due.
    for load in (peek_if_current, load_if_current):
        task = load(dispatch, deps.store)
        if task is not None and not task.is_reminder and not is_slow_queue:
            deps.slow_queue.send([dispatch], now=clock.now())
            return ExecutionResult(RunOutcome.REROUTED)
        if task is not None:
            clock.sleep_until(dispatch.due_at)
            with suppress(_OutdatedError):
                return _execute(task, deps)
    return ExecutionResult(RunOutcome.DUPLICATE)


class _OutdatedError(Exception):
    """The task has changed since it was read, and nothing was done."""


def _execute(task: Task, deps: WorkerDeps) -> ExecutionResult:
    if task.status is Status.PENDING_VERIFICATION:
        return _verify(task, deps)
    subject = deps.subjects.get(task.subject) if task.subject else None
    if (deferred := _defer_if_not_admitted(task, subject, deps)) is not None:
        return deferred
    return _run_claimed(_claim(task, deps), subject, deps)


def _claim_if_new(dispatch: Dispatch, deps: WorkerDeps) -> Task | None:
    """Claim a reminder that never ran with one write and no read; None if it has to be read first.

    The message says that it is one, and the write checks it. While anybody has quiet hours, the
    owner has to be known before the claim: a deferred reminder must not look as if it had started.
    """
    handler = deps.handlers.get(REMINDER)
    capabilities = fixed_capabilities_of(handler) if handler is not None else None
    is_new = dispatch.lane is Lane.NEW_REMINDER
    if not is_new or capabilities is None or not deps.quiet_hours.is_unused():
        return None
    deps.clock.sleep_until(dispatch.due_at)
    now = truncate_to_millisecond(deps.clock.now())
    run = first_run(_new_lease(deps, now), capabilities, nominal_at=dispatch.due_at, at=now)
    return deps.store.claim_new(dispatch.task_id, run, due_at=dispatch.due_at)


def _new_lease(deps: WorkerDeps, now: datetime) -> Lease:
    return Lease(run_id=deps.new_id(), expires_at=now + deps.lease, handler_version=deps.version)


def _verify(task: Task, deps: WorkerDeps) -> ExecutionResult:
    from duecourse.usecases.runs.verify_task import Verdict, verify_task  # few tasks need it

    if verify_task(task, deps.verification_deps) is Verdict.CONFLICT:
        raise _OutdatedError
    return ExecutionResult(RunOutcome.VERIFICATION_CHECKED, current_run(task).id)


def _defer_if_not_admitted(
    task: Task, subject: Subject | None, deps: WorkerDeps
) -> ExecutionResult | None:
    """Defer the task if it may not run yet. Deferring does not count as a retry."""
    # A new reminder is claimed without it.
    from duecourse.usecases.runs.check_admission import check_admission

    now = truncate_to_millisecond(deps.clock.now())
    deferral = check_admission(
        task, subject, breakers=deps.breakers, quiet_hours=deps.quiet_hours, now=now
    )
    if deferral is None:
        return None
    if is_limited(deferral.wait):
        waited = expired_wait(task, at=now, limit=deps.max_uncounted_wait)
        if waited is not None:
            reason = _describe(replace(deferral.wait, until=None))
            return _give_up(task, WaitedTooLongError(waited, reason, deferral.wait), deps)
    after = defer(task, until=deferral.until, wait=deferral.wait, at=now)
    _save(task, after, deps.store)
    enqueue_if_due_soon(after, queue=deps.queue, now=now)
    return ExecutionResult(RunOutcome.DEFERRED, error=_describe(deferral.wait))


def _describe(wait: Wait) -> str | None:
    from duecourse.domain.tasks.wait_text import describe_wait  # few runs need it

    return describe_wait(wait)


def _give_up(task: Task, error: WaitedTooLongError, deps: WorkerDeps) -> ExecutionResult:
    """Report `error` as the failure of a run that begins no phase."""
    claimed = _claim(task, deps, has_prepare=True)  # so that the effect is not in flight
    return _send_report(_runner_for(claimed, deps).failure_report(error), deps)


def _claim(task: Task, deps: WorkerDeps, *, has_prepare: bool = False) -> Task:
    """Take the lease on the task. Raises _OutdatedError if another worker was faster."""
    now = truncate_to_millisecond(deps.clock.now())
    capabilities = capabilities_of(_handler_for(task, deps), task)
    if has_prepare:
        capabilities = replace(capabilities, has_prepare=True)
    claimed = claim(task, _new_lease(deps, now), capabilities, at=now)
    _save(task, claimed, deps.store)
    return claimed


def _save(before: Task, after: Task, store: TaskStore) -> None:
    try:
        store.save(before, after)
    except StaleTaskError as error:
        raise _OutdatedError from error


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


def _run_claimed(task: Task, subject: Subject | None, deps: WorkerDeps) -> ExecutionResult:
    """Run the phases of a claimed task and commit the run, or report its failure."""
    runner = _runner_for(task, deps)
    try:
        finished = runner.run(subject)
        follow_up_error = commit_run(finished, deps)
    except StaleTaskError:
        # The sweeper has taken the run for crashed. This worker knows better how it ended.
        result = _send_report(runner.failure_report(runner.lease_lost()), deps)
        return replace(result, outcome=RunOutcome.REPORTED_LATE)
    except Exception as error:  # noqa: BLE001 - whatever a handler raises is this task's failure
        return _send_report(_with_provider(runner.failure_report(error), task, deps), deps)
    return ExecutionResult(
        RunOutcome.AWAITING_VERIFICATION if finished.needs_verification else RunOutcome.DELIVERED,
        finished.run.id,
        lateness=truncate_to_millisecond(deps.clock.now()) - task.due_at,
        call=finished.call,
        follow_up_error=follow_up_error,
    )


def _runner_for(task: Task, deps: WorkerDeps) -> PhaseRunner:
    return PhaseRunner(
        task,
        _handler_for(task, deps),
        store=deps.store,
        clock=deps.clock,
        deadline=deps.clock.now() + deps.time_limit,
    )


def _with_provider(report: FailureReport, task: Task, deps: WorkerDeps) -> FailureReport:
    """Add when this container last reached the provider: its failures in a row began after that."""
    at = deps.breakers.results.reached_at(task.provider) if task.provider else None
    return replace(report, provider_reached_at=at)


def _send_report(report: FailureReport, deps: WorkerDeps) -> ExecutionResult:
    """Send the failure report.

    If sending raises, the message stays on the queue and the lease stays in force until it expires.
    """
    deps.failure_queue.send(report)
    return ExecutionResult(
        RunOutcome.FAILED, report.run_id, error=report.failure.summary, call=report.call
    )
