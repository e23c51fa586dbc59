"""Whether what a notice says of its task is over by the time that it can be told."""

from __future__ import annotations

from duecourse.domain.chat.notification import Notice
from duecourse.domain.chat.notification_kind import Kind
from duecourse.domain.lifecycle.run_transitions import run_to_try_again
from duecourse.domain.lifecycle.spec_review import awaited_review
from duecourse.domain.lifecycle.user_actions import waits_for_resolution
from duecourse.domain.lifecycle.verification import awaits_a_person
from duecourse.domain.tasks.run import RunStatus
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task


def is_outdated(notice: Notice, task: Task | None) -> bool:
    """A task that is gone waits for nothing. Each attempt is told of by itself, so of one before it
    only two things stay true: that it began to fail, while nothing has come of it, and that it may
    have had its effect, where a series went on without an answer."""
    if notice.run_id is None:
        return False
    if task is None:
        return True
    if notice.kind is Kind.FIRST_FAILURE:
        return not _still_fails(task)
    if task.run is None:
        return True
    if task.run.id != notice.run_id:
        is_made_up_for = task.run.retry_of == notice.run_id
        return notice.kind is not Kind.DOUBT or task.repeat is None or is_made_up_for
    return not _holds(notice.kind, task)


def _holds(kind: Kind, task: Task) -> bool:
    match kind:
        case Kind.RETRY:
            return _awaits_retry(task) or awaited_review(task) is not None
        case Kind.ESCALATION:
            return task.status is Status.BLOCKED
        case Kind.CHECK:
            return awaits_a_person(task)
        case Kind.DOUBT:
            return _is_unresolved(task)
    return True


def _still_fails(task: Task) -> bool:
    """Its later failures are not told of by themselves: who missed the first would know nothing."""
    if task.status is Status.IN_PROGRESS:
        return task.run is not None and task.run.retry_of is not None
    is_to_be_tried = task.status is Status.PENDING and run_to_try_again(task) is not None
    return is_to_be_tried or awaited_review(task) is not None


def _awaits_retry(task: Task) -> bool:
    return task.status is Status.PENDING and task.next_retry_at is not None


def _is_unresolved(task: Task) -> bool:
    """Whoever skipped it left the effect in doubt, and the run as one that is over."""
    run = task.run
    is_open = run is not None and run.is_in_doubt and run.status is not RunStatus.CANCELLED
    return is_open and waits_for_resolution(task)
