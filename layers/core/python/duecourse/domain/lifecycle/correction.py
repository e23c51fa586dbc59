"""What is known of a run that was taken for crashed, and the corrections of its record."""

from __future__ import annotations

from dataclasses import replace

from duecourse.domain.origin import Effect, Origin
from duecourse.domain.tasks.late_report import LateReport
from duecourse.domain.tasks.run import MutationStatus, Run, RunStatus
from duecourse.domain.tasks.run_diagnosis import NOT_DIAGNOSED
from duecourse.domain.tasks.task import Task


def is_concluded(run: Run) -> bool:
    """Return True if the run's end was concluded from its lease, and not reported."""
    is_crash = run.status is RunStatus.CRASHED
    return is_crash or (run.diagnosis or NOT_DIAGNOSED).origin is Origin.CRASH


def apply_late_report(run: Run, late: LateReport) -> Run:
    """Return the recorded run with what its worker reported, if its end was only concluded."""
    if not is_concluded(run):
        return run
    return with_reported_effect(replace(run, error=late.error), late.effect)


def with_reported_effect(run: Run, effect: Effect) -> Run:
    """Return the run with the effect that its worker reported, unless a person told it before."""
    if not run.is_indeterminate or run.status is not RunStatus.CRASHED:
        return run
    match effect:
        case Effect.APPLIED:
            return run.with_mutation_status(MutationStatus.APPLIED)
        case Effect.NONE:
            return run.with_mutation_status(MutationStatus.FAILED)
    return run


def is_late_report(old: Task, new: Task) -> bool:
    """Return True if this change only brought a late report for the record of an earlier run."""
    return new.late_report is not None and old.late_report != new.late_report and old == new


def is_correction(old: Task, new: Task) -> bool:
    """Return True if this change corrected a run after its worker had reported late.

    A person who resolves or reclassifies a run leaves its error as it is.
    """
    before, after = old.run, new.run
    if before is None or after is None or before.ended_at is None or before.id != after.id:
        return False
    return before.error != after.error
