"""The failures before a retry: the last one, and the first one of the occurrence."""

from __future__ import annotations

from datetime import datetime, timedelta

from duecourse.domain.tasks.run import FirstFailure, PreviousFailure, Run
from duecourse.domain.tasks.run_diagnosis import RunDiagnosis
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.utc_days import utc_day

_MAX_DELAY_FACTOR = 1.5
_SLACK = timedelta(seconds=30)


def find_previous_failure(task: Task, previous: Run, *, at: datetime) -> PreviousFailure | None:
    """Return the failure that this retry follows, or None if `previous` has no counted failure."""
    note = previous.diagnosis
    if previous.category is None or note is None or not note.counted:
        return None
    return PreviousFailure(
        category=previous.category,
        fingerprint=note.fingerprint,
        delay_seconds=_waited_seconds(task, previous, note, at=at),
    )


def find_first_failure(previous: Run) -> FirstFailure | None:
    """Return the failure of the occurrence's first attempt, or None if that attempt did not fail.

    It is copied from run to run, because nothing else knows it when a retry succeeds.
    """
    if previous.attempt > 1 or not previous.is_failure:
        return previous.first_failure
    failed_at = previous.ended_or_started_at
    return FirstFailure(utc_day(failed_at), previous.error_category)


def find_first_failed_at(task: Task, previous: Run) -> datetime | None:
    """Return when the first failure happened since somebody last reset the task's `retry_count`.

    None if none is counted. A deadline of a policy begins there.
    """
    if task.retry_count == 0:
        return None
    return previous.first_failed_at or previous.ended_or_started_at


def _waited_seconds(task: Task, previous: Run, note: RunDiagnosis, *, at: datetime) -> int | None:
    """Return the policy's delay in seconds if the retry came after exactly that delay, else None.

    None if a review, a person or the server chose the time, or if throttling, a circuit breaker or
    a pause prolonged the wait. Such a wait says nothing about the delay.
    """
    delay, retry_after = note.delay, note.retry_after
    if task.next_retry_at is None or delay is None:
        return None
    is_server_delay = retry_after is not None and retry_after >= delay
    latest = previous.ended_or_started_at + delay * _MAX_DELAY_FACTOR + _SLACK
    if is_server_delay or at > latest:
        return None
    return round(delay.total_seconds())
