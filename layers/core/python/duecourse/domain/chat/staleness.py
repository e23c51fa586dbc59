"""Whether a deferred notification is out of date when it can be delivered."""

from __future__ import annotations

from duecourse.domain.chat.notification import Notification
from duecourse.domain.chat.notification_kind import NotificationKind
from duecourse.domain.lifecycle.awaited_task import awaited_task_id
from duecourse.domain.lifecycle.current_run import retryable_run
from duecourse.domain.lifecycle.resolve_indeterminate import can_resolve
from duecourse.domain.lifecycle.verification import is_awaiting_person
from duecourse.domain.tasks.run import RunStatus
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task


def is_stale(notification: Notification, task: Task | None) -> bool:
    """Return True if the notification is no longer true of `task`, or the task is gone.

    Each attempt has its own notifications, so those of an earlier run are stale, with two
    exceptions: a first failure while the task is still failing, and an indeterminate effect in a
    series that went on without an answer.
    """
    if notification.run_id is None:
        return False
    if task is None:
        return True
    if notification.kind is NotificationKind.FIRST_FAILURE:
        return not _is_still_failing(task)
    if task.run is None:
        return True
    if task.run.id != notification.run_id:
        is_made_up_for = task.run.retry_of == notification.run_id
        return (
            notification.kind is not NotificationKind.INDETERMINATE
            or task.repeat is None
            or is_made_up_for
        )
    return not _is_still_true(notification.kind, task)


def _is_still_true(kind: NotificationKind, task: Task) -> bool:
    match kind:
        case NotificationKind.RETRY:
            return _is_awaiting_retry(task) or awaited_task_id(task) is not None
        case NotificationKind.ESCALATION:
            return task.status is Status.BLOCKED
        case NotificationKind.VERIFICATION:
            return is_awaiting_person(task)
        case NotificationKind.INDETERMINATE:
            return _is_unresolved(task)
    return True


def _is_still_failing(task: Task) -> bool:
    """Return True if the task has not recovered and is to be tried again.

    Then the first failure is still reported: later failures may not be, so the owner would learn
    nothing.
    """
    if task.status is Status.IN_PROGRESS:
        return task.run is not None and task.run.retry_of is not None
    is_to_be_tried = task.status is Status.PENDING and retryable_run(task) is not None
    return is_to_be_tried or awaited_task_id(task) is not None


def _is_awaiting_retry(task: Task) -> bool:
    return task.status is Status.PENDING and task.next_retry_at is not None


def _is_unresolved(task: Task) -> bool:
    """Return True if the effect is indeterminate and was not skipped (which cancels the run)."""
    run = task.run
    is_open = run is not None and run.is_unsafe_to_repeat and run.status is not RunStatus.CANCELLED
    return is_open and can_resolve(task)
