"""How long a task may wait for a budget, a provider, a channel or a subject without an attempt.

Such a wait uses up no retry, so nothing else would end it.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from duecourse.domain.errors import DuecourseError
from duecourse.domain.origin import Origin
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import Wait, WaitReason

if TYPE_CHECKING:  # a worker that runs a reminder needs neither
    from duecourse.domain.failures.decision import Decision
    from duecourse.domain.failures.failure_report import FailureReport

_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)
# Quiet hours end by themselves within a day.
_LIMITED = (WaitReason.BUDGET, WaitReason.CIRCUIT_BREAKER, WaitReason.SUBJECT_COOLDOWN)


class WaitedTooLongError(DuecourseError):
    """The task was deferred, without an attempt, for longer than is allowed."""

    type = "WaitedTooLong"
    code = "waited_too_long"
    origin = Origin.NOT_ATTEMPTED
    is_wait_expired = True

    def __init__(self, waited: str, reason: str | None, wait: Wait | None = None) -> None:
        super().__init__(f"gave up after waiting {waited}: {reason}")
        if wait is not None and wait.is_key_refused:
            self.code = "waited_for_key"


def is_limited(wait: Wait) -> bool:
    return wait.reason in _LIMITED


def waiting_since_after(task: Task, report: FailureReport, decision: Decision) -> datetime | None:
    """Return since when the task waits without an attempt, after this failure of it."""
    if decision.is_counted:
        return None
    is_begun = decision.wait is not None and is_limited(decision.wait)
    return task.waiting_since or (report.failed_at if is_begun else None)


def expired_wait(task: Task, *, at: datetime, limit: timedelta) -> str | None:
    """Return how long the task has waited, in words, if that is `limit` or longer, else None."""
    waited = at - task.waiting_since if task.waiting_since else timedelta(0)
    return _format_wait(waited) if waited >= limit else None


def give_up_if_expired(task: Task, report: FailureReport, *, limit: timedelta) -> FailureReport:
    """Return the report of a used-up budget as final if the task has waited for `limit`."""
    if not report.is_over_budget:
        return report
    waited = expired_wait(task, at=report.failed_at, limit=limit)
    if waited is None:
        return report
    message = str(WaitedTooLongError(waited, report.failure.message))
    return replace(report, failure=replace(report.failure, message=message), is_wait_expired=True)


def _format_wait(waited: timedelta) -> str:
    count, unit = (waited // _DAY, "day") if waited >= 2 * _DAY else (waited // _HOUR, "hour")
    return f"{count} {unit}{'' if count == 1 else 's'}"
