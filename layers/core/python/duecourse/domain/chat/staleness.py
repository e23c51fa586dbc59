"""Whether what a notice says of its task is over by the time that it can be told."""

from __future__ import annotations

from duecourse.domain.chat.notification import Notification
from duecourse.domain.chat.notification_kind import NotificationKind
from duecourse.domain.lifecycle.run_transitions import retryable_run
from duecourse.domain.lifecycle.spec_review import awaited_review_id
from duecourse.domain.lifecycle.user_actions import can_resolve
from duecourse.domain.lifecycle.verification import is_awaiting_person
from duecourse.domain.tasks.run import RunStatus
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task


def is_stale(notification: Notification, task: Task | None) -> bool:
    """A task that is gone waits for nothing. Each attempt is told of by itself, so of one before it
    only two things stay true: that it began to fail, while nothing has come of it, and that it may
    have had its effect, where a series went on without an answer."""
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
            return _is_awaiting_retry(task) or awaited_review_id(task) is not None
        case NotificationKind.ESCALATION:
            return task.status is Status.BLOCKED
        case NotificationKind.VERIFICATION:
            return is_awaiting_person(task)
        case NotificationKind.INDETERMINATE:
            return _is_unresolved(task)
    return True


def _is_still_failing(task: Task) -> bool:
    """Its later failures are not told of by themselves: who missed the first would know nothing."""
    if task.status is Status.IN_PROGRESS:
        return task.run is not None and task.run.retry_of is not None
    is_to_be_tried = task.status is Status.PENDING and retryable_run(task) is not None
    return is_to_be_tried or awaited_review_id(task) is not None


def _is_awaiting_retry(task: Task) -> bool:
    return task.status is Status.PENDING and task.next_retry_at is not None


def _is_unresolved(task: Task) -> bool:
    """Whoever skipped it left the effect in doubt, and the run as one that is over."""
    run = task.run
    is_open = run is not None and run.is_unsafe_to_repeat and run.status is not RunStatus.CANCELLED
    return is_open and can_resolve(task)
