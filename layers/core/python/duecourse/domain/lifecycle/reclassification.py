"""A person says what a failure really was: it is judged anew, as if it had been read so at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from duecourse.domain.errors import FieldError, InvalidFieldsError, RefusedError
from duecourse.domain.failures.classifier.fingerprint import fingerprint_of
from duecourse.domain.failures.decision import Decision
from duecourse.domain.failures.diagnosis import SAID_BY_PERSON, Diagnosis
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.failure_report import FailureReport
from duecourse.domain.failures.policy import Policy
from duecourse.domain.failures.subject import Subject
from duecourse.domain.lifecycle.apply_failure import failed
from duecourse.domain.lifecycle.run_transitions import running
from duecourse.domain.lifecycle.spec_review import was_reviewed_in_vain
from duecourse.domain.origin import Effect, Origin
from duecourse.domain.tasks.run import Run, RunStatus
from duecourse.domain.tasks.run_diagnosis import NOT_DIAGNOSED, Location, Reading, RunDiagnosis
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.validation.fields import one_of

_SAYS_NOTHING_OF_SUBJECT = (Origin.LOGIC, Origin.UNVERIFIED, Origin.SUBJECT)


@dataclass(frozen=True, slots=True)
class Reopened:
    """`before` is the task as its last attempt was about to fail, `run` how that ended."""

    before: Task
    run: Run
    report: FailureReport

    @property
    def note(self) -> RunDiagnosis:
        return self.run.diagnosis or NOT_DIAGNOSED


def reopened(task: Task) -> Reopened:
    """Raises RefusedError where no failure waits for what follows from it."""
    run = _failed_run(task)
    note = run.diagnosis or NOT_DIAGNOSED
    was_given_up = task.next_retry_at is None
    before = replace(
        task,
        status=Status.IN_PROGRESS,
        retry_count=max(0, task.retry_count - note.counted),
        failed_occurrences=max(0, task.failed_occurrences - was_given_up),
        guidance=_guidance_before(task, note),
        next_retry_at=None,
        skipped=None,
    )
    report = FailureReport(
        task_id=task.id,
        run_id=run.id,
        failure=_failure(run, note),
        failed_at=run.ended_at or run.started_at,
        origin=_origin(run, note),
        effect=Effect.UNKNOWN if run.is_indeterminate else Effect.NONE,
    )
    return Reopened(before, run, report)


def _failure(run: Run, note: RunDiagnosis) -> Failure:
    return Failure.of(
        run.error or "",
        type=note.type,
        code=note.code,
        status=note.status,
        phase=note.phase,
        retry_after=note.retry_after,
    )


def said_to_be(category: str, case: Reopened, policy: Policy) -> Diagnosis:
    """Raises InvalidFieldsError naming the categories that there are."""
    try:
        found = policy.categories[one_of(policy.categories)(category)]
    except ValueError as error:
        raise InvalidFieldsError([FieldError("category", str(error))]) from None
    return Diagnosis(
        category=found.name,
        confidence=1.0,
        pattern=SAID_BY_PERSON,
        fix=found.fix,
        location=None if found.is_outside else _location(case.note),
        fingerprint=_fingerprint(case) if found.counts else None,
    )


def _fingerprint(case: Reopened) -> str | None:
    """Also of a run from before they were taken. None where nothing is to be learnt: a wait that
    cost no retry stays one."""
    note = case.note
    if not (note.counted and note.origin.teaches):
        return None
    return note.fingerprint or fingerprint_of(case.report.failure)


def _location(note: RunDiagnosis) -> Location | None:
    """Also where a person has said in between that it was something else."""
    return note.location or (note.read_as.location if note.read_as else None)


def subject_before(case: Reopened, subject: Subject | None) -> Subject | None:
    """Without this failure. None where it has been tried or reset since: it is left as it is."""
    if subject is None or _was_tried_since(case, subject):
        return None
    note = case.note
    is_told_of = note.origin not in _SAYS_NOTHING_OF_SUBJECT
    if not (note.counted and note.blames_subject and is_told_of):
        return subject
    return subject.uncounted() if subject.last_error_category == case.run.category else None


def rejudged(
    task: Task,
    case: Reopened,
    diagnosis: Diagnosis,
    decision: Decision,
    *,
    at: datetime,
    by: str | None = None,
) -> Task:
    """The run keeps who said it, and how it was read at first: there is something to learn."""
    judged = failed(case.before, case.report, diagnosis, decision, at=at)
    note = running(judged).diagnosis or NOT_DIAGNOSED
    note = replace(note, read_as=_first_reading(case), by=by or None)
    run = replace(running(judged), error=case.run.error, ended_at=case.run.ended_at, diagnosis=note)
    after = replace(_decided(task, judged), run=run, closed_at=None)
    return after.move_to(judged.status, blocked_at=judged.blocked_at)


def _decided(task: Task, judged: Task) -> Task:
    """The task with what a failure decides of it. Its error stays as it was."""
    return replace(
        task,
        due_at=judged.due_at,
        nominal_at=judged.nominal_at,
        next_retry_at=judged.next_retry_at,
        retry_count=judged.retry_count,
        wait=judged.wait,
        reviewed_at=judged.reviewed_at,
        paused=judged.paused,
        skipped=judged.skipped,
        failed_occurrences=judged.failed_occurrences,
        last_error_category=judged.last_error_category,
        recovery_action=judged.recovery_action,
        guidance=judged.guidance,
        asked_at=judged.asked_at,
        owner_asked_at=judged.owner_asked_at,
    )


def _failed_run(task: Task) -> Run:
    if task.status is Status.IN_PROGRESS:
        raise RefusedError(f"task {task.short_id} is running right now: it cannot be reclassified")
    waits = task.status is Status.PENDING and task.next_retry_at is not None
    has_ended = task.status in (Status.BLOCKED, Status.FAILED)
    if task.run is None or not task.run.is_failure or not (waits or has_ended):
        raise RefusedError(
            f"task {task.short_id} is {task.status}: it has no failure to reclassify"
        )
    if task.run.is_in_doubt:
        raise RefusedError(f"task {task.short_id} may have had its effect: that comes first")
    return task.run


def _guidance_before(task: Task, note: RunDiagnosis) -> tuple[str, ...]:
    """Without what this failure added, and what a review did that led to nothing."""
    added = (note.guidance_lines or 0) + was_reviewed_in_vain(task)
    return task.guidance[: max(0, len(task.guidance) - added)]


def _origin(run: Run, note: RunDiagnosis) -> Origin:
    """Whoever says what kind of failure it was says that it was no bug."""
    if run.status is RunStatus.CRASHED:
        return Origin.CRASH
    return Origin.WORK if note.origin is Origin.LOGIC else note.origin


def _was_tried_since(case: Reopened, subject: Subject) -> bool:
    return subject.last_attempt_at is not None and subject.last_attempt_at > case.report.failed_at


def _first_reading(case: Reopened) -> Reading:
    """Also where a person changes their mind."""
    note = case.note
    return note.read_as or Reading(
        category=case.run.category,
        pattern=note.pattern,
        confidence=note.confidence,
        location=note.location,
    )
