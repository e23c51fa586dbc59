"""What a person may do to a task that waits. While it runs, only its worker may write it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from duecourse.domain.errors import RefusedError
from duecourse.domain.instant import to_millisecond
from duecourse.domain.status import Status
from duecourse.domain.task import Skipped, Task


def cancelled(task: Task, *, at: datetime) -> Task:
    """Cancelling what is cancelled changes nothing."""
    if task.status is Status.CANCELLED:
        return task
    _refuse_while_running(task, "cancelled")
    closed_at = to_millisecond(at)
    nothing_ahead = {"next_retry_at": None, "skipped": None, "waits_for": None}
    return task.moved(Status.CANCELLED, closed_at=closed_at, **nothing_ahead)


def paused(task: Task) -> Task:
    _require_pending(task, "paused")
    if task.paused:
        return task
    return task.moved(Status.PENDING, paused=True, skipped=None)


def resumed(task: Task, *, at: datetime) -> Task:
    """A series goes on with its next future occurrence; a one-shot that is overdue runs now."""
    _require_pending(task, "resumed")
    if not task.paused:
        return task
    at = to_millisecond(at)
    changes: dict[str, Any] = {"paused": False, "failed_occurrences": 0, "skipped": None}
    changes["waits_for"] = None
    series = task.series
    if series is None or task.nominal_at > at or task.next_retry_at:
        return task.moved(Status.PENDING, **changes)
    following = series.next_after(at)
    if following is None:
        raise RefusedError(f"task {task.short_id} has no occurrence left: cancel it or edit it")
    missed = 1 + series.count_between(task.nominal_at, following)
    changes |= {"due_at": following, "nominal_at": following}
    changes["skipped"] = Skipped(missed, "paused")
    return task.moved(Status.PENDING, **changes)


def run_now(task: Task, *, at: datetime) -> Task:
    """Due at once, whatever its time; a series keeps the occurrence that is still to come."""
    _require_pending(task, "run")
    if task.paused:
        raise RefusedError(f"task {task.short_id} is paused: resume it first")
    return _due_again(task, at=at, retry_count=task.retry_count)


def retried(task: Task, *, at: datetime) -> Task:
    """A person wants it tried again, with a fresh count: what failed, is blocked, or waits."""
    _refuse_while_running(task, "retried")
    if task.paused and task.status is Status.PENDING:
        raise RefusedError(f"task {task.short_id} is paused: resume it first")
    is_ended = task.status in (Status.FAILED, Status.BLOCKED)
    if not is_ended and task.next_retry_at is None:
        raise RefusedError(f"task {task.short_id} is {task.status}: nothing failed that is to do")
    return _due_again(task, at=at, retry_count=0)


def unblocked(task: Task, *, at: datetime) -> Task:
    """It goes on where it was blocked: its failures still count."""
    _refuse_while_running(task, "unblocked")
    if task.status is not Status.BLOCKED:
        raise RefusedError(f"task {task.short_id} is {task.status}: it is not blocked")
    return _due_again(task, at=at, retry_count=task.retry_count)


def _due_again(task: Task, *, at: datetime, retry_count: int) -> Task:
    due_at = to_millisecond(at)
    return task.moved(
        Status.PENDING,
        due_at=due_at,
        next_retry_at=None,
        retry_count=retry_count,
        paused=False,
        closed_at=None,
        skipped=None,
        waits_for=None,
    )


def edited(task: Task, changes: Mapping[str, Any]) -> Task:
    _require_pending(task, "edited")
    kept = {"next_retry_at": task.next_retry_at, "waits_for": task.waits_for}
    if "due_at" in changes:
        kept = {"next_retry_at": None, "waits_for": None}
    return task.moved(Status.PENDING, **changes, **kept, skipped=None)


def _require_pending(task: Task, verb: str) -> None:
    _refuse_while_running(task, verb)
    if task.status is not Status.PENDING:
        raise RefusedError(f"task {task.short_id} is {task.status}: it cannot be {verb}")


def _refuse_while_running(task: Task, verb: str) -> None:
    if task.status is Status.IN_PROGRESS:
        raise RefusedError(f"task {task.short_id} is running right now: it cannot be {verb}")
