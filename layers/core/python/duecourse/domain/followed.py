"""What a retry follows: the failure before it, and the delay that was waited for."""

from __future__ import annotations

from datetime import datetime, timedelta

from duecourse.domain.tasks.run import Followed, Run
from duecourse.domain.tasks.run_diagnosis import RunDiagnosis
from duecourse.domain.tasks.task import Task

_MOST_TIMES_AS_LONG = 1.5
_SLACK = timedelta(seconds=30)


def followed(task: Task, before: Run, *, at: datetime) -> Followed | None:
    """None unless the run before failed, and that was counted."""
    note = before.diagnosis
    if before.category is None or note is None or not note.counted:
        return None
    return Followed(
        category=before.category,
        fingerprint=note.fingerprint,
        waited=_waited(task, before, note, at=at),
    )


def _waited(task: Task, before: Run, note: RunDiagnosis, *, at: datetime) -> int | None:
    """None where a review, a person or a server chose the time, or a storm, a breaker or a pause
    came in between: then it is not known what the delay is good for."""
    delay, asked = note.delay, note.retry_after
    if task.next_retry_at is None or delay is None:
        return None
    is_servers = asked is not None and asked >= delay
    latest = (before.ended_at or before.started_at) + delay * _MOST_TIMES_AS_LONG + _SLACK
    if is_servers or at > latest:
        return None
    return round(delay.total_seconds())
