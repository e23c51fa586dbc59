"""Apply a failure report and the decision on it to the run and the task."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from duecourse.domain.failures.decision import Decision
from duecourse.domain.failures.diagnosis import Diagnosis
from duecourse.domain.failures.failure_report import REJECTION_LABEL, FailureReport
from duecourse.domain.lifecycle.advance_series import advance_series, missed_occurrences
from duecourse.domain.lifecycle.current_run import current_run
from duecourse.domain.lifecycle.lease import lease_expired
from duecourse.domain.lifecycle.spec_review import await_review
from duecourse.domain.lifecycle.uncounted_wait import waiting_since_after
from duecourse.domain.origin import Effect, Origin
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run import IndeterminatePolicy, MutationStatus, Run, RunStatus
from duecourse.domain.tasks.run_diagnosis import RunDiagnosis
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.text.quotation import quote
from duecourse.domain.time.instant import truncate_to_millisecond

MAX_GUIDANCE = 10
FAILED_OCCURRENCES_BEFORE_PAUSE = 3
_RUN_STATUS_BY_ACTION = {
    Action.RETRY: RunStatus.PAUSED_TRANSIENT,
    Action.RETRY_WITH_GUIDANCE: RunStatus.PAUSED_TRANSIENT,
    Action.WAIT_FOR_BUDGET: RunStatus.PAUSED_BUDGET,
    Action.RETRY_WITH_SPEC_REFRESH: RunStatus.PAUSED_APPROVAL,
    Action.ESCALATE_TO_HUMAN: RunStatus.PAUSED_APPROVAL,
    Action.MARK_AS_BLOCKED: RunStatus.FAILED_PERMANENT,
    Action.GIVE_UP: RunStatus.FAILED_PERMANENT,
    Action.AWAIT_FIX: RunStatus.FAILED_LOGIC,
    Action.ASK_PERSON: RunStatus.PAUSED_RECONCILIATION,
}
VERIFICATION_ORIGINS = (Origin.REJECTED, Origin.UNVERIFIED)


def applies_to(task: Task, report: FailureReport, *, at: datetime) -> bool:
    """Return True if the report's run is still the task's current run and has not ended.

    A crash report also requires that the lease has expired.
    """
    is_verification = report.origin in VERIFICATION_ORIGINS
    status = Status.PENDING_VERIFICATION if is_verification else Status.IN_PROGRESS
    is_current = task.status is status and current_run(task).id == report.run_id
    return is_current and (not report.is_crash or lease_expired(task, at=at))


def effect_of(task: Task, report: FailureReport) -> Effect:
    """Return whether the run's effect has happened.

    An effect recorded as applied stays applied whatever the report says. For a crash only the
    stored run is trusted.
    """
    stored_effect = current_run(task).effect_after_crash
    is_stored = report.is_crash or stored_effect is Effect.APPLIED
    return stored_effect if is_stored else report.effect


def is_indeterminate(task: Task, report: FailureReport) -> bool:
    """Return True if the effect may have happened and repeating it could do harm."""
    is_unknown = effect_of(task, report) is Effect.UNKNOWN
    return is_unknown and current_run(task).indeterminate_policy is not IndeterminatePolicy.REPEAT


def is_human_required(task: Task, report: FailureReport) -> bool:
    """Return True if only a person can find out whether the effect has happened."""
    is_person_needed = (
        current_run(task).indeterminate_policy is IndeterminatePolicy.ASK_PERSON
        or report.origin is Origin.INDETERMINATE
    )
    return is_person_needed and is_indeterminate(task, report)


def apply_failure(
    task: Task, report: FailureReport, diagnosis: Diagnosis, decision: Decision, *, at: datetime
) -> Task:
    """End the current run and apply `decision` to the task: retry, block, give up or go on.

    A retry is never due before `at`.
    """
    run = _end_run(task, report, decision, at=at)
    run = replace(run, diagnosis=_to_diagnosis_note(report, diagnosis, decision))
    after = _failure_changes(replace(task, run=run), report, diagnosis, decision)
    if decision.due_at is not None:
        due_at = truncate_to_millisecond(max(decision.due_at, at))
        return replace(after, due_at=due_at, next_retry_at=due_at).move_to(Status.PENDING)
    return _give_up(task, after, decision, at=at)


def _end_run(task: Task, report: FailureReport, decision: Decision, *, at: datetime) -> Run:
    """Return the current run, ended with the status that the decision calls for.

    The phase changes only if the worker reports an applied effect that it could not store.
    """
    run = _with_effect(current_run(task), effect_of(task, report), report.result)
    status = RunStatus.CRASHED if report.is_crash else _RUN_STATUS_BY_ACTION[decision.action]
    run = replace(
        run,
        error=report.failure.summary,
        category=decision.category.name,
        call=report.call or run.call,
        originally_due_at=run.originally_due_at or (task.due_at if report.is_crash else None),
    )
    return run.end(status, at=at)


def _with_effect(run: Run, effect: Effect, result: Any) -> Run:
    if effect is Effect.APPLIED:
        return run if run.is_applied else run.mark_applied(result)
    if effect is Effect.UNKNOWN:
        return run.with_mutation_status(MutationStatus.INDETERMINATE)
    return run if run.mutation.status is None else run.with_mutation_status(MutationStatus.FAILED)


def _to_diagnosis_note(
    report: FailureReport, diagnosis: Diagnosis, decision: Decision
) -> RunDiagnosis:
    """Return what the run stores for the error log and for a later reclassification."""
    failure = report.failure
    return RunDiagnosis(
        kind=diagnosis.kind,
        likely=diagnosis.likely,
        confidence=diagnosis.confidence,
        pattern=diagnosis.pattern,
        fingerprint=diagnosis.fingerprint,
        learned=diagnosis.rule_reading is not None,
        read_as=diagnosis.rule_reading,
        fix=diagnosis.fix,
        location=diagnosis.location,
        type=failure.type,
        code=failure.code,
        status=failure.status,
        phase=failure.phase,
        retry_after=failure.retry_after or None,
        origin=report.origin,
        blames_subject=decision.blames_subject,
        action=decision.action,
        counted=decision.is_counted,
        retry_count=decision.retry_count,
        delay=decision.delay,
        adapted=decision.adapted_delay,
        guidance_lines=len(_new_guidance(report, decision)),
    )


def _failure_changes(
    task: Task, report: FailureReport, diagnosis: Diagnosis, decision: Decision
) -> Task:
    guidance = (*task.guidance, *_new_guidance(report, decision))
    return replace(
        task,
        retry_count=decision.retry_count,
        wait=decision.wait,
        waiting_since=waiting_since_after(task, report, decision),
        reviewed_at=None,
        last_error=report.failure.summary,
        last_error_category=decision.category.name,
        last_error_kind=diagnosis.kind,
        recovery_action=decision.action,
        guidance=guidance[-MAX_GUIDANCE:],
    )


def _new_guidance(report: FailureReport, decision: Decision) -> list[str]:
    """Return the guidance lines for the next attempt. A rejection reason comes first.

    It is quoted, because a verifier may have written it.
    """
    reason = report.failure.summary.removeprefix(f"{REJECTION_LABEL} ")
    rejection = [quote(REJECTION_LABEL, reason)] if report.origin is Origin.REJECTED else []
    return [*rejection, *([decision.guidance] if decision.guidance else [])]


def _give_up(task: Task, after: Task, decision: Decision, *, at: datetime) -> Task:
    """Return the task when no retry follows: a one-shot task fails or is blocked, a series goes on.

    `after` is `task` with its run ended and the failure counted. A series moves to its next
    occurrence and is paused after FAILED_OCCURRENCES_BEFORE_PAUSE failed occurrences in a row.
    """
    failed_occurrences = task.failed_occurrences + 1
    after = replace(after, failed_occurrences=failed_occurrences)
    following = advance_series(task, after, at=at)
    if following is None:
        after = replace(after, skipped=missed_occurrences(task, until=at))
        is_blocked = decision.status is Status.BLOCKED
        return (
            _blocked_changes(task, after, at=at) if is_blocked else after.move_to(decision.status)
        )
    is_paused = task.paused or failed_occurrences >= FAILED_OCCURRENCES_BEFORE_PAUSE
    is_person_asked = decision.action is Action.ASK_PERSON
    action = decision.action if is_person_asked else Action.GIVE_UP
    return replace(following, paused=is_paused, recovery_action=action)


def _blocked_changes(task: Task, after: Task, *, at: datetime) -> Task:
    """Return the blocked task. Its `due_at` never lies in the future, whatever it waited for."""
    blocked_at = truncate_to_millisecond(at)
    after = replace(after, due_at=min(task.due_at, blocked_at))
    if after.recovery_action is Action.RETRY_WITH_SPEC_REFRESH:
        after = await_review(task, after, current_run(after))
    return after.move_to(Status.BLOCKED, blocked_at=blocked_at)
