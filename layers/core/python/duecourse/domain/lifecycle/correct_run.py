"""Correct a run that was taken for crashed, once its worker reports how it ended.

The worker's own report wins over the conclusion from an expired lease. What happened since wins
over the report: an answer or a request of a person, and a newer run. Then only the run's record
changes.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from duecourse.domain.failures.decision import Decision
from duecourse.domain.failures.diagnosis import Diagnosis
from duecourse.domain.failures.failure_report import FailureReport
from duecourse.domain.lifecycle.apply_failure import (
    FAILED_OCCURRENCES_BEFORE_PAUSE,
    VERIFICATION_ORIGINS,
    apply_failure,
)
from duecourse.domain.lifecycle.correction import is_concluded, with_reported_effect
from duecourse.domain.lifecycle.current_run import current_run
from duecourse.domain.lifecycle.reclassification import guidance_before
from duecourse.domain.lifecycle.resolve_indeterminate import has_gone_on
from duecourse.domain.lifecycle.run_transitions import commit
from duecourse.domain.tasks.late_report import LateReport
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run import MutationStatus, Reason, Run, RunStatus
from duecourse.domain.tasks.run_diagnosis import NOT_DIAGNOSED
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task

_REASONS_AFTER_CRASH = (Reason.CRASHED_RECOVERY, Reason.USER_RETRY)


def is_late(task: Task, report: FailureReport) -> bool:
    """Return True if a worker reports on a run that may have been taken for crashed."""
    run = task.run
    if run is None or report.is_crash or report.origin in VERIFICATION_ORIGINS:
        return False
    if run.id == report.run_id:
        return run.ended_at is not None and is_concluded(run)
    # Of a retry's previous run it is known how it ended. Of others only its record knows.
    return run.retry_of != report.run_id or run.reason in _REASONS_AFTER_CRASH


def can_settle(task: Task, report: FailureReport) -> bool:
    """Return True if the task itself may still follow the report, and not only the run."""
    run = current_run(task)
    is_waiting = task.status in (Status.PENDING, Status.BLOCKED, Status.FAILED)
    is_unchanged = run.id == report.run_id and run.status is RunStatus.CRASHED
    if not (is_waiting and is_unchanged) or _is_answered(task, run):
        return False
    if has_gone_on(task):
        return report.is_finished or run.is_unsafe_to_repeat
    return run.nominal_at == task.nominal_at


def _is_answered(task: Task, run: Run) -> bool:
    """Return True if somebody decided about the task since the run was taken for crashed."""
    note = run.diagnosis or NOT_DIAGNOSED
    is_resolved = note.action is Action.ASK_PERSON and not run.is_indeterminate
    is_rescheduled = task.rescheduled_at is not None and task.rescheduled_at >= (
        run.ended_or_started_at
    )
    return is_resolved or note.is_corrected or is_rescheduled or task.reviewed_at is not None


def reopen(task: Task) -> Task:
    """Return the task as it was before its run was taken for crashed, as far as it is known.

    A series that has gone on keeps its next occurrence: a retry of the run then makes up for the
    earlier one.
    """
    run, is_past = current_run(task), has_gone_on(task)
    note = run.diagnosis or NOT_DIAGNOSED
    failures = task.retry_count if note.retry_count is None else note.retry_count
    is_paused_by_failures = is_past and task.failed_occurrences >= FAILED_OCCURRENCES_BEFORE_PAUSE
    return replace(
        task,
        status=Status.IN_PROGRESS,
        run=_before_crash(run, is_past=is_past),
        due_at=task.due_at if is_past else run.originally_due_at or task.due_at,
        retry_count=max(0, failures - note.counted),
        failed_occurrences=max(0, task.failed_occurrences - (task.next_retry_at is None)),
        paused=task.paused and not is_paused_by_failures,
        guidance=guidance_before(task, note),
        next_retry_at=None,
        skipped=None,
        closed_at=None,
    )


def _before_crash(run: Run, *, is_past: bool) -> Run:
    if run.is_indeterminate:
        run = run.with_mutation_status(MutationStatus.IN_FLIGHT)
    return replace(
        run,
        status=RunStatus.ACTIVE,
        is_early=run.is_early or is_past,
        error=None,
        category=None,
        diagnosis=None,
        ended_at=None,
    )


def settle_failure(
    task: Task, report: FailureReport, diagnosis: Diagnosis, decision: Decision, *, at: datetime
) -> Task:
    """Return the task as the worker's failure report would have left it."""
    if has_gone_on(task) and decision.due_at is not None and decision.due_at >= task.due_at:
        decision = _give_up(decision)  # its next occurrence comes first
    settled = apply_failure(reopen(task), report, diagnosis, decision, at=at)
    if settled.status is Status.BLOCKED and task.status is Status.BLOCKED:
        settled = replace(settled, blocked_at=task.blocked_at)
    return _keep_end(task, settled)


def _give_up(decision: Decision) -> Decision:
    return replace(
        decision, action=Action.GIVE_UP, status=Status.FAILED, delay=None, due_at=None, wait=None
    )


def settle_success(task: Task, report: FailureReport, *, at: datetime) -> Task:
    """Return the task as the commit of the worker would have left it."""
    done = replace(
        reopen(task),
        last_error=None,
        last_error_category=None,
        last_error_kind=None,
        recovery_action=None,
    )
    if has_gone_on(task):
        run = current_run(done).mark_applied(report.result).commit(at=at)
        settled = replace(done, run=run, failed_occurrences=0).move_to(Status.PENDING)
    else:
        settled = commit(done, report.result, at=at)
    settled = replace(
        settled,
        run=replace(current_run(settled), call=report.call or current_run(task).call),
        delivered_at=report.failed_at,
    )
    return _keep_end(task, settled)


def _keep_end(task: Task, settled: Task) -> Task:
    """Return the settled task with the end of its run as recorded: the journal finds it by that.

    Raises IllegalTransitionError if the task may not become what the report calls for.
    """
    run, former = current_run(settled), current_run(task)
    is_early = run.is_early if settled.next_retry_at else former.is_early
    run = replace(run, ended_at=former.ended_at, is_early=is_early)
    task.move_to(settled.status)
    return replace(settled, run=run)


def amend(task: Task, report: FailureReport) -> Task:
    """Return the task, to which something else happened since, with the worker's error in its run.

    What the run says about its effect stays while the task may still run by it.
    """
    run = replace(
        current_run(task),
        error=report.failure.summary,
        call=report.call or current_run(task).call,
    )
    is_final = not task.is_open and task.status is not Status.FAILED
    if is_final:
        run = with_reported_effect(run, report.effect)
    return task if run == task.run else task.with_corrected_run(run)


def note_late(task: Task, report: FailureReport) -> Task:
    """Return the task with the report for the record of an earlier run. The version stays.

    Unchanged if the report does not say where that record is.
    """
    if report.started_at is None:
        return task
    late = LateReport(
        run_id=report.run_id,
        started_at=report.started_at,
        error=report.failure.summary,
        effect=report.effect,
        reported_at=report.failed_at,
    )
    return task if task.late_report == late else replace(task, late_report=late)
