"""The lane of a task in the due index."""

from __future__ import annotations

from datetime import timedelta

from duecourse.domain.dispatch.lanes import Lane
from duecourse.domain.dispatch.timing import Dispatch
from duecourse.domain.lifecycle.retry_throttle import MAX_THROTTLED_WAIT
from duecourse.domain.tasks.run import Reason, Run, RunStatus
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task

_MAX_JITTER_FACTOR = 1.1
_AUTOMATIC_RETRIES = (Reason.TRANSIENT, Reason.CRASHED_RECOVERY)


def lane_of(task: Task) -> Lane | None:
    """Return the lane, or None if the task is blocked or has ended well.

    A running task stays in the lane it was claimed from, as far as the task still tells it: moving
    an index entry costs two write units.
    """
    match task.status:
        case Status.PENDING if task.paused:
            return Lane.PAUSED
        case Status.PENDING:
            return _pending_lane(task)
        case Status.IN_PROGRESS:
            return _running_lane(task)
        case Status.PENDING_VERIFICATION:
            return Lane.VERIFICATION
        case Status.FAILED:
            return Lane.FAILED
    return None


def is_retry_pending(task: Task) -> bool:
    return task.is_waiting and task.next_retry_at is not None


def dispatch_of(task: Task) -> Dispatch:
    """Return the message that makes a worker run the task."""
    return Dispatch(task.due_at, task.id, lane_of(task))


def _pending_lane(task: Task) -> Lane:
    if not is_retry_pending(task):
        return _first_attempt_lane(task, is_new=task.run is None and task.wait is None)
    if task.run is not None and _is_long_wait(task, task.run):
        return Lane.LONG_RETRY
    return _retry_lane(task)


def _running_lane(task: Task) -> Lane:
    if task.run is not None and task.run.reason in _AUTOMATIC_RETRIES:
        return _retry_lane(task)
    return _first_attempt_lane(
        task, is_new=task.run is not None and task.run.reason is Reason.FIRST
    )


def _first_attempt_lane(task: Task, *, is_new: bool) -> Lane:
    if not task.is_reminder:
        return Lane.SLOW
    is_at_own_time = task.due_at == task.nominal_at and task.subject is None
    return Lane.NEW_REMINDER if is_new and is_at_own_time else Lane.REMINDER


def _retry_lane(task: Task) -> Lane:
    return Lane.REMINDER_RETRY if task.is_reminder else Lane.SLOW_RETRY


def _is_long_wait(task: Task, run: Run) -> bool:
    """Return whether the retry asked for a long delay, or waits for a budget.

    Throttling and deferral do not make a wait long; otherwise the queue of retries would seem to
    have drained.
    """
    if run.status is RunStatus.PAUSED_BUDGET:
        return True
    if run.ended_at is None or task.next_retry_at is None:
        return False
    return min(task.next_retry_at - run.ended_at, _requested_wait(run)) > MAX_THROTTLED_WAIT


def _requested_wait(run: Run) -> timedelta:
    """Return the longest delay the retry can have asked for, jitter included.

    Unlimited if the run has no stored delay.
    """
    delay = run.diagnosis.delay if run.diagnosis else None
    return timedelta.max if delay is None else delay * _MAX_JITTER_FACTOR
