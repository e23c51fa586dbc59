"""Builders of failures, diagnoses, failure reports and failed tasks."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from duecourse.adapters.runtime.policy_files import read_policies
from duecourse.domain.errors import BUDGET_EXCEEDED_CODE
from duecourse.domain.failures.classifier.engine import diagnose
from duecourse.domain.failures.decision import decide
from duecourse.domain.failures.diagnosis import Diagnosis
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.failure_context import FailureContext
from duecourse.domain.failures.failure_report import FailureReport
from duecourse.domain.failures.policy import Policy
from duecourse.domain.failures.subject import Subject
from duecourse.domain.journal.error_log import provider_name
from duecourse.domain.journal.failure_events import error_detail
from duecourse.domain.journal.run_record import RunRecord
from duecourse.domain.lifecycle import apply_failure
from duecourse.domain.lifecycle.correct_run import reopen, settle_failure, settle_success
from duecourse.domain.lifecycle.lease import lease_expired_report
from duecourse.domain.limits.budget import next_reset
from duecourse.domain.tasks.event import Event, EventType
from duecourse.domain.tasks.run import Mutation
from duecourse.domain.tasks.run_diagnosis import RunDiagnosis
from duecourse.domain.tasks.task import Task

from tests.support.builders.moments import NOW
from tests.support.builders.runs import a_failed_run, run_of
from tests.support.builders.tasks import (
    a_task,
    claim_task,
)

BOOM = Failure.create("boom")


def builtin_policies() -> Mapping[str, Policy]:
    return read_policies()


def share_of(group: str) -> float:
    """Return the confidence of a group of answers, as it was measured."""
    table = builtin_policies()["agent"].confidence_table
    assert table is not None
    return table.shares[group]


def a_subject(**fields: Any) -> Subject:
    return Subject(**{"id": "story-1", **fields})


def a_failure_report(task: Task, failure: Failure = BOOM, *, at: datetime = NOW) -> FailureReport:
    """Return the report of the worker that runs the task.

    A failure with the code of a used-up budget stands for one of Duecourse's own budgets.
    """
    return FailureReport(
        task_id=task.id,
        run_id=run_of(task).id,
        failure=failure,
        failed_at=at,
        is_over_budget=failure.code == BUDGET_EXCEEDED_CODE,
    )


def fail_task(task: Task, failure: Failure = BOOM, *, at: datetime = NOW) -> Task:
    """Return the running task after this failure, as its policy decides."""
    return apply_decision(task, a_failure_report(task, failure, at=at), at=at)


def crash_task(task: Task, *, at: datetime) -> Task:
    return apply_decision(task, lease_expired_report(task), at=at)


def correct_task(task: Task, report: FailureReport, *, at: datetime) -> Task:
    """Return the crashed task after a late report of its worker, as its policy decides."""
    if report.is_finished:
        return settle_success(task, report, at=at)
    policy, reopened = builtin_policies()[task.policy], reopen(task)
    diagnosis = diagnose(report.failure, policy)
    context = _context_of(reopened, report, at=at)
    decision = decide(report.failure, diagnosis, policy, context)
    return settle_failure(task, report, diagnosis, decision, at=at)


def a_diagnosis(category: str = "unknown", **fields: Any) -> Diagnosis:
    defaults = {"confidence": 0.9, "pattern": "a-rule", "fix": "Mend it."}
    return Diagnosis(category=category, **{**defaults, **fields})


def diagnosis_of(task: Task) -> RunDiagnosis:
    """Return the diagnosis of its latest run, which must have failed."""
    diagnosis = run_of(task).diagnosis
    assert diagnosis is not None
    return diagnosis


def apply_decision(
    task: Task, report: FailureReport, *, at: datetime, diagnosis: Diagnosis | None = None
) -> Task:
    policy = builtin_policies()[task.policy]
    diagnosis = diagnosis or diagnose(report.failure, policy)
    decision = decide(report.failure, diagnosis, policy, _context_of(task, report, at=at))
    return apply_failure.apply_failure(task, report, diagnosis, decision, at=at)


def _context_of(task: Task, report: FailureReport, *, at: datetime) -> FailureContext:
    return FailureContext(
        retry_count=task.retry_count,
        max_retries=task.max_retries,
        failed_at=report.failed_at,
        budget_resets_at=next_reset(at),
        jitter_seed=task.id,
        has_spec=bool(task.payload.get("spec")),
        origin=report.origin,
        is_human_required=apply_failure.is_human_required(task, report),
        is_indeterminate=apply_failure.is_indeterminate(task, report),
        is_over_budget=report.is_over_budget,
        is_wait_expired=report.is_wait_expired,
    )


def fail_repeatedly(task: Task, times: int) -> Task:
    """Claim and fail the task this many times in a row, each attempt at its due time."""
    for _ in range(times):
        running = claim_task(task, f"run-{task.version}", at=task.due_at)
        task = fail_task(running, at=task.due_at)
    return task


def a_run_record(
    name: str = "run-1",
    *,
    at: datetime = NOW,
    task: dict[str, Any] | None = None,
    next_retry_at: datetime | None = None,
    **fields: Any,
) -> RunRecord:
    """Return the record of a failed run, whose error log entry is `to_logged_error(record)`."""
    run = a_failed_run(id=name, at=at, mutation=Mutation(idempotency_key="occurrence"), **fields)
    failed = a_task(**(task or {}), run=run, next_retry_at=next_retry_at)
    return RunRecord(
        task_id=failed.id,
        version=failed.version,
        run=run,
        events=[Event(EventType.TASK_FAILED, failed.id, at, error_detail(run))],
        policy=failed.policy,
        subject=failed.subject,
        provider=provider_name(failed),
        next_retry_at=next_retry_at,
    )
