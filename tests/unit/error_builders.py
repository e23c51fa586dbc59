"""Failed and recovered runs, and what is logged of them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from duecourse.domain.diagnosis import Location
from duecourse.domain.error_log import LoggedError, logged_error
from duecourse.domain.policy import Action
from duecourse.domain.run import Mutation, Run, RunStatus
from duecourse.domain.run_diagnosis import RunDiagnosis
from duecourse.domain.tally import Recovery

from tests.unit.builders import HOUR, MINUTE, NOW, a_run, a_task

DIAGNOSIS = RunDiagnosis(
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


def a_failed_run(*, at: datetime = NOW, **fields: Any) -> Run:
    """Its key is that of the first attempt, as every attempt's at one occurrence."""
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


def a_failure(
    name: str = "run-1", *, at: datetime = NOW, task: dict[str, Any] | None = None, **fields: Any
) -> tuple[LoggedError, Run]:
    """The entry of a run that failed so, and the run."""
    run = a_failed_run(id=name, at=at, mutation=Mutation(key="occurrence"), **fields)
    return logged_error(a_task(**(task or {})), run), run


def a_recovery(name: str = "run-2", *, at: datetime = NOW + HOUR, **fields: Any) -> Recovery:
    defaults = {
        "task_id": a_task().id,
        "run_id": name,
        "occurrence": "occurrence",
        "at": at,
        "retry_count": 1,
        "provider": None,
    }
    return Recovery(**{**defaults, **fields})
