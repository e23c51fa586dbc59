"""Reclassify a failure: apply it again as if it had been classified like that at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from duecourse.domain.errors import FieldError, InvalidFieldsError, InvalidStateError
from duecourse.domain.failures.classifier.fingerprint import fingerprint_of
from duecourse.domain.failures.decision import Decision
from duecourse.domain.failures.diagnosis import MANUAL_PATTERN, Diagnosis
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.failure_report import FailureReport
from duecourse.domain.failures.policy import Category, Policy
from duecourse.domain.failures.subject import Subject
from duecourse.domain.lifecycle.apply_failure import apply_failure
from duecourse.domain.lifecycle.current_run import current_run
from duecourse.domain.lifecycle.spec_review import is_review_failed
from duecourse.domain.origin import Effect, Origin
from duecourse.domain.tasks.failure_kind import Kind
from duecourse.domain.tasks.run import Run, RunStatus
from duecourse.domain.tasks.run_diagnosis import NOT_DIAGNOSED, Location, Reading, RunDiagnosis
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.validation.fields import choice_field

CategoryOrKind = str | Kind  # the name of a category, or a kind
_ORIGINS_NOT_BLAMING_SUBJECT = (Origin.LOGIC, Origin.UNVERIFIED, Origin.SUBJECT)


@dataclass(frozen=True, slots=True)
class ReopenedFailure:
    """A failure to decide again.

    `task_before` is the task just before its last attempt failed, `run` that attempt as it ended.
    """

    task_before: Task
    run: Run
    report: FailureReport

    @property
    def diagnosis(self) -> RunDiagnosis:
        return self.run.diagnosis or NOT_DIAGNOSED


def reopen(task: Task) -> ReopenedFailure:
    """Undo the last failure of the task in memory, so that it can be decided again.

    Raises InvalidStateError if the task has no failure to reclassify.
    """
    run = _require_failed_run(task)
    note = run.diagnosis or NOT_DIAGNOSED
    was_given_up = task.next_retry_at is None
    before = replace(
        task,
        status=Status.IN_PROGRESS,
        retry_count=max(0, task.retry_count - note.counted),
        failed_occurrences=max(0, task.failed_occurrences - was_given_up),
        guidance=guidance_before(task, note),
        next_retry_at=None,
        skipped=None,
    )
    report = FailureReport(
        task_id=task.id,
        run_id=run.id,
        failure=_failure(run, note),
        failed_at=run.ended_or_started_at,
        origin=_origin(run, note),
        effect=Effect.UNKNOWN if run.is_indeterminate else Effect.NONE,
    )
    return ReopenedFailure(before, run, report)


def _failure(run: Run, note: RunDiagnosis) -> Failure:
    return Failure.create(
        run.error or "",
        type=note.type,
        code=note.code,
        status=note.status,
        phase=note.phase,
        retry_after=note.retry_after,
    )


def manual_diagnosis(
    corrected_to: CategoryOrKind, reopened_failure: ReopenedFailure, policy: Policy
) -> Diagnosis:
    """Return the diagnosis a person gave. Raises InvalidFieldsError for an unknown category."""
    corrected, kind = _complete(corrected_to, reopened_failure, policy)
    return Diagnosis(
        category=corrected.name,
        kind=kind,
        confidence=1.0,
        pattern=MANUAL_PATTERN,
        fix=corrected.fix,
        location=None if corrected.is_external else _location(reopened_failure.diagnosis),
        fingerprint=_fingerprint(reopened_failure) if corrected.counts else None,
    )


def is_unchanged(reopened_failure: ReopenedFailure, diagnosis: Diagnosis) -> bool:
    """Return whether the failure has that category and kind already."""
    known_kind = reopened_failure.diagnosis.kind or Kind.UNKNOWN
    return (reopened_failure.run.category, known_kind) == (diagnosis.category, diagnosis.kind)


def _complete(
    corrected_to: CategoryOrKind, reopened_failure: ReopenedFailure, policy: Policy
) -> tuple[Category, Kind]:
    """Return the category and the kind, of which a person gave one.

    A category keeps the kind that the failure has, if it holds it.
    """
    if isinstance(corrected_to, Kind):
        return policy.category_of(corrected_to) or policy.fallback_category, corrected_to
    try:
        corrected = policy.categories[choice_field(policy.categories)(corrected_to)]
    except ValueError as error:
        raise InvalidFieldsError([FieldError("category", str(error))]) from None
    known_kind = reopened_failure.diagnosis.kind or Kind.UNKNOWN
    is_kept = corrected.name == reopened_failure.run.category or known_kind in corrected.kinds
    return corrected, known_kind if is_kept else corrected.kind


def _fingerprint(reopened_failure: ReopenedFailure) -> str | None:
    """Return the fingerprint to learn from, or None if nothing can be learnt.

    Uncounted failures teach nothing. Computes the fingerprint for runs stored without one.
    """
    note = reopened_failure.diagnosis
    if not (note.counted and note.origin.is_learnable):
        return None
    return note.fingerprint or fingerprint_of(reopened_failure.report.failure)


def _location(note: RunDiagnosis) -> Location | None:
    """Return the source location, from the original reading if an earlier correction dropped it."""
    return note.location or (note.read_as.location if note.read_as else None)


def subject_before(reopened_failure: ReopenedFailure, subject: Subject | None) -> Subject | None:
    """Return the subject without this failure, or None to leave it unchanged.

    It is left unchanged if it was attempted or reset since.
    """
    failed_at = reopened_failure.report.failed_at
    return _without_failure(reopened_failure.run, subject, failed_at=failed_at)


def subject_before_crash(task: Task, subject: Subject | None) -> Subject | None:
    """Return the subject without the failure of a run whose lease expired, as `subject_before`."""
    run = current_run(task)
    return _without_failure(run, subject, failed_at=run.lease_expires_at)


def _without_failure(run: Run, subject: Subject | None, *, failed_at: datetime) -> Subject | None:
    if subject is None or _has_later_attempt(subject, failed_at):
        return None
    note = run.diagnosis or NOT_DIAGNOSED
    is_recorded_by_subject = note.origin not in _ORIGINS_NOT_BLAMING_SUBJECT
    if not (note.counted and note.blames_subject and is_recorded_by_subject):
        return subject
    return subject.uncount_failure() if subject.last_error_category == run.category else None


def apply(
    task: Task,
    reopened_failure: ReopenedFailure,
    diagnosis: Diagnosis,
    decision: Decision,
    *,
    at: datetime,
    corrected_by: str | None = None,
) -> Task:
    """Return the task with the new decision applied to its last failure.

    The run stores who corrected it and the original reading, which the classifier learns from.
    """
    redecided = apply_failure(
        reopened_failure.task_before, reopened_failure.report, diagnosis, decision, at=at
    )
    note = current_run(redecided).diagnosis or NOT_DIAGNOSED
    note = replace(
        note,
        read_as=_original_reading(reopened_failure),
        by=corrected_by or None,
        is_newly_blocked=reopened_failure.diagnosis.is_newly_blocked,
    )
    run = replace(
        current_run(redecided),
        error=reopened_failure.run.error,
        ended_at=reopened_failure.run.ended_at,
        diagnosis=note,
    )
    after = replace(_decided(task, redecided), run=run, closed_at=None)
    return after.move_to(redecided.status, blocked_at=redecided.blocked_at)


def _decided(task: Task, redecided: Task) -> Task:
    """Copy to `task` every field that a failure decision sets. `last_error` stays as it is."""
    return replace(
        task,
        due_at=redecided.due_at,
        nominal_at=redecided.nominal_at,
        next_retry_at=redecided.next_retry_at,
        retry_count=redecided.retry_count,
        wait=redecided.wait,
        reviewed_at=redecided.reviewed_at,
        paused=redecided.paused,
        skipped=redecided.skipped,
        failed_occurrences=redecided.failed_occurrences,
        last_error_category=redecided.last_error_category,
        last_error_kind=redecided.last_error_kind,
        recovery_action=redecided.recovery_action,
        guidance=redecided.guidance,
        rescheduled_at=redecided.rescheduled_at,
        owner_rescheduled_at=redecided.owner_rescheduled_at,
    )


def _require_failed_run(task: Task) -> Run:
    if task.status is Status.IN_PROGRESS:
        raise InvalidStateError(
            f"task {task.short_id} is running right now: it cannot be reclassified"
        )
    is_retry_pending = task.status is Status.PENDING and task.next_retry_at is not None
    has_ended = task.status in (Status.BLOCKED, Status.FAILED)
    if task.run is None or not task.run.is_failure or not (is_retry_pending or has_ended):
        raise InvalidStateError(
            f"task {task.short_id} is {task.status}: it has no failure to reclassify"
        )
    if task.run.is_unsafe_to_repeat:
        raise InvalidStateError(
            f"task {task.short_id} may or may not have happened: resolve it first"
        )
    return task.run


def guidance_before(task: Task, note: RunDiagnosis) -> tuple[str, ...]:
    """Return the guidance without the lines added by this failure and by its failed review."""
    added_lines = (note.guidance_lines or 0) + is_review_failed(task)
    return task.guidance[: max(0, len(task.guidance) - added_lines)]


def _origin(run: Run, note: RunDiagnosis) -> Origin:
    """Return the origin to decide by. A correction implies that the failure was no handler bug."""
    if run.status is RunStatus.CRASHED:
        return Origin.CRASH
    return Origin.WORK if note.origin is Origin.LOGIC else note.origin


def _has_later_attempt(subject: Subject, failed_at: datetime) -> bool:
    return subject.last_attempt_at is not None and subject.last_attempt_at > failed_at


def _original_reading(reopened_failure: ReopenedFailure) -> Reading:
    """Return the classifier's reading, even if a person has corrected the failure before."""
    note = reopened_failure.diagnosis
    return note.read_as or Reading(
        category=reopened_failure.run.category,
        kind=note.kind,
        pattern=note.pattern,
        confidence=note.confidence,
        location=note.location,
    )
