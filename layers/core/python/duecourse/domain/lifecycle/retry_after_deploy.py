"""Retry a task that failed because of a handler bug, once other code is deployed."""

from __future__ import annotations

from datetime import datetime, timedelta

from duecourse.domain.failures.retry_delay import stable_fraction
from duecourse.domain.lifecycle.blocked import is_awaiting_fix
from duecourse.domain.lifecycle.user_actions import clear_rescheduled, reschedule
from duecourse.domain.tasks.task import Task

REDEPLOY_RETRY_SPREAD = timedelta(minutes=2)  # spreads the retries after a deployment


def retry_after_deploy(task: Task, deployed_version: str, *, at: datetime) -> Task:
    """Make a task that awaits a fix due again, unless `deployed_version` is the one that failed."""
    if (
        not is_awaiting_fix(task)
        or task.run is None
        or task.run.handler_version == deployed_version
    ):
        return task
    spread = REDEPLOY_RETRY_SPREAD * stable_fraction(task.id)
    rescheduled = reschedule(task, at=at + spread, retry_count=task.retry_count)
    return clear_rescheduled(rescheduled)
