"""Save a run whose phases have finished: commit it, or have its work verified first."""

from __future__ import annotations

from datetime import datetime

from duecourse.domain.errors import NotRecordedError
from duecourse.domain.lifecycle.run_transitions import commit
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import truncate_to_millisecond
from duecourse.usecases.follow_up import run_follow_up
from duecourse.usecases.runs.phase_runner import FinishedPhases, store_errors_as
from duecourse.usecases.runs.worker_deps import WorkerDeps
from duecourse.usecases.tasks.enqueue_if_due_soon import enqueue_if_due_soon
from duecourse.usecases.tasks.save_with_subject import save_success


def commit_run(finished: FinishedPhases, deps: WorkerDeps) -> str | None:
    """Commit the run, or store its result and request verification.

    Returns the error of what follows a commit, None if there was none: the run has succeeded
    whatever it is. Raises NotRecordedError if the store fails, because the effect must not be
    repeated, and StaleTaskError if another worker holds the task now.
    """
    now = truncate_to_millisecond(deps.clock.now())
    save = _save_for_verification if finished.needs_verification else _save_committed
    after = save(finished, deps, now)
    enqueue_if_due_soon(after, queue=deps.queue, now=now)
    # Each is tried, whatever becomes of the other.
    breaker_error = run_follow_up(lambda: _report_success_to_breaker(finished, deps, now=now))
    channel_error = run_follow_up(lambda: _resume_channel(finished, deps, now=now))
    return breaker_error or channel_error


def _save_for_verification(finished: FinishedPhases, deps: WorkerDeps, now: datetime) -> Task:
    from duecourse.domain.lifecycle.verification import request_verification  # few tasks need it

    verify_until = now + deps.verification_timeout
    after = request_verification(
        finished.updated_task, finished.result, at=now, verify_until=verify_until
    )
    with store_errors_as(NotRecordedError):
        deps.store.save(finished.task, after)
    return after


def _save_committed(finished: FinishedPhases, deps: WorkerDeps, now: datetime) -> Task:
    with store_errors_as(NotRecordedError):
        after = commit(finished.updated_task, finished.result, at=now)
        save_success(
            finished.task,
            after,
            store=deps.store,
            subjects=deps.subjects,
            backoff=deps.backoff,
            at=now,
        )
    return after


def _report_success_to_breaker(
    finished: FinishedPhases, deps: WorkerDeps, *, now: datetime
) -> None:
    """Report a success to the breaker, unless this run only resumed and made no provider call."""
    provider, breakers = finished.task.provider, deps.breakers
    if provider is not None and finished.call is not None:
        from duecourse.usecases.limits.circuit_breaker import record_reached  # no reminder has one

        read = breakers.store.get_last_read(provider)
        started_at = finished.run.started_at
        record_reached(provider, read, started_at=started_at, breakers=breakers, now=now)


def _resume_channel(finished: FinishedPhases, deps: WorkerDeps, *, now: datetime) -> None:
    """Resume the task's channel if this run was its probe. Only a retry can be one."""
    if finished.run.retry_of is not None:
        from duecourse.usecases.limits.channel_pause import resume_channel  # few runs need it

        task, started_at = finished.task, finished.run.started_at
        resume_channel(
            task.channel, task.id, started_at=started_at, breakers=deps.breakers, now=now
        )
