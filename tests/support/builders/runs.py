"""Builders of active, failed and committed runs."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from duecourse.domain.tasks.failure_kind import Kind
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run import Mutation, Reason, Run, RunStatus
from duecourse.domain.tasks.run_diagnosis import Location, RunDiagnosis
from duecourse.domain.tasks.task import Task

from tests.support.builders.moments import MINUTE, NOW

LEASE = timedelta(seconds=90)
DIAGNOSIS = RunDiagnosis(
    kind=Kind.TIMEOUT,
    confidence=0.9,
    pattern="http-504",
    location=Location("app.py", 3),
    fix="wait",
    type="TimeoutError",
    code="ETIMEDOUT",
    status=504,
    phase="mutating",
    action=Action.RETRY,
    counted=True,
    retry_count=1,
    delay=5 * MINUTE,
)


def a_run(**fields: Any) -> Run:
    defaults = {
        "id": "run-1",
        "attempt": 1,
        "reason": Reason.FIRST,
        "mutation": Mutation(idempotency_key=fields.get("id", "run-1")),
        "nominal_at": NOW,
        "started_at": NOW,
        "lease_expires_at": NOW + LEASE,
        "handler_version": "1",
    }
    return Run(**{**defaults, **fields})


def run_of(task: Task) -> Run:
    assert task.run is not None
    return task.run


def a_failed_run(*, at: datetime = NOW, **fields: Any) -> Run:
    """Return a failed run. All attempts at one occurrence share an idempotency key."""
    defaults = {
        "status": RunStatus.PAUSED_TRANSIENT,
        "error": "timed out",
        "category": "timeout",
        "diagnosis": DIAGNOSIS,
        "started_at": at,
        "ended_at": at,
    }
    return a_run(**{**defaults, **fields})


def a_committed_run(*, at: datetime = NOW, **fields: Any) -> Run:
    defaults = {"status": RunStatus.COMMITTED, "started_at": at, "ended_at": at}
    return a_run(**{**defaults, **fields})
