"""Pause the channel or the provider that refused a run for its token or key."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from duecourse.domain.failures.decision import Decision
from duecourse.domain.failures.diagnosis import Diagnosis
from duecourse.domain.failures.failure_report import FailureReport
from duecourse.domain.lifecycle.current_run import current_run
from duecourse.domain.lifecycle.uncounted_wait import expired_wait
from duecourse.domain.limits.channel_breaker import MAX_CHANNEL_WAIT
from duecourse.domain.origin import Origin
from duecourse.domain.tasks.failure_kind import Kind
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import Wait
from duecourse.usecases.limits.channel_pause import channel_wait, pause_channel
from duecourse.usecases.limits.circuit_breaker import BreakerDeps
from duecourse.usecases.limits.key_pause import pause_for_key


def find_access_wait(
    task: Task,
    report: FailureReport,
    diagnosis: Diagnosis,
    *,
    breakers: BreakerDeps,
    max_wait: timedelta,
    now: datetime,
) -> Wait | None:
    """Pause what refused the run for its token or key; return how long the task waits for it.

    None if the task may not wait, or asks a person for a key: it was refused first, or has waited
    for `max_wait`.
    """
    if report.refused_channel is not None:
        return _pause_channel(task, report, report.refused_channel, breakers=breakers, now=now)
    if task.provider is None or not is_key_refused(report, diagnosis):
        return None
    wait = pause_for_key(task.provider, current_run(task), task.id, breakers=breakers, now=now)
    return None if expired_wait(task, at=now, limit=max_wait) else wait


def is_key_refused(report: FailureReport, diagnosis: Diagnosis) -> bool:
    """Return whether a provider refused the key with which Duecourse called it.

    What a provider's reply says of other keys does not count.
    """
    is_error_of_call = report.call is not None and report.origin is Origin.WORK
    return is_error_of_call and diagnosis.kind is Kind.AUTH


def can_wait_for_channel(task: Task, report: FailureReport) -> bool:
    is_refused = report.refused_channel is not None
    return is_refused and report.failed_at - task.nominal_at <= MAX_CHANNEL_WAIT


def wait_for_access(decision: Decision, wait: Wait | None) -> Decision | None:
    """Return the decision with the end of the wait, or None if the retry does not wait for it."""
    if wait is None or wait.until is None or decision.due_at is None:
        return None
    return replace(decision, due_at=wait.until, wait=wait)


def _pause_channel(
    task: Task, report: FailureReport, channel: str, *, breakers: BreakerDeps, now: datetime
) -> Wait | None:
    started_at = current_run(task).started_at
    retry_at = pause_channel(channel, task.id, started_at=started_at, breakers=breakers, now=now)
    return channel_wait(channel, retry_at) if can_wait_for_channel(task, report) else None
