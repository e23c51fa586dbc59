"""Move a blocked task without a person: its timeout is reached, or the task it waits for ends."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from duecourse.domain.lifecycle.apply_failure import MAX_GUIDANCE
from duecourse.domain.lifecycle.blocked import blocked_until
from duecourse.domain.lifecycle.user_actions import clear_rescheduled, reschedule
from duecourse.domain.tasks.outcome_marker import reply_text
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import WaitReason
from duecourse.domain.text.formatting import truncate
from duecourse.domain.text.quotation import quote
from duecourse.domain.text.redaction import MAX_REDACTED_LENGTH, redact
from duecourse.domain.time.instant import truncate_to_millisecond

ANSWER_LIMIT = 2_000
_REVIEWED = "The specification was reviewed"
ERROR_LIMIT = 300
_UNSUCCESSFUL_STATUSES = (Status.FAILED, Status.BLOCKED, Status.CANCELLED)


def expire_blocked(task: Task, *, at: datetime, timeout: timedelta) -> Task:
    """Return the task as failed if its blocked timeout has passed, else `task` unchanged."""
    until = blocked_until(task, timeout=timeout)
    if until is None or at < until:
        return task
    closed = replace(task, closed_at=truncate_to_millisecond(at), wait=None, skipped=None)
    return closed.move_to(Status.FAILED)


def settle_wait(task: Task, awaited: Task | None, *, at: datetime) -> Task:
    """Apply the state of the task that `task` waits for; None if that task no longer exists.

    Returns `task` unchanged while it must keep waiting.
    """
    match task.wait_reason:
        case WaitReason.SPEC_REVIEW:
            return apply_review(task, awaited, at=at)
    return task


def apply_review(task: Task, review: Task | None, *, at: datetime) -> Task:
    """Apply the result of the spec review: retry the task, or escalate it to a person.

    Returns `task` unchanged while the review is still open. A missing review counts as failed.
    """
    if review is None:
        return _escalate(task, "The review of its specification was deleted.", at=at)
    if review.status is Status.COMPLETED:
        return _resume_with_review(task, review, at=at)
    return (
        _escalate(task, _review_failure_reason(review), at=at)
        if review.status in _UNSUCCESSFUL_STATUSES
        else task
    )


def _resume_with_review(task: Task, review: Task, *, at: datetime) -> Task:
    answer = reply_text(review.run.mutation.result if review.run else None)
    # Redact before truncating: redaction does not recognise half of a secret.
    shortened = truncate(redact(answer, MAX_REDACTED_LENGTH), ANSWER_LIMIT)
    guidance = quote(_REVIEWED + ":", shortened) if answer else f"{_REVIEWED}."
    requeued = reschedule(_add_guidance(task, guidance), at=at, retry_count=task.retry_count)
    return replace(clear_rescheduled(requeued), reviewed_at=truncate_to_millisecond(at))


def _escalate(task: Task, reason: str, *, at: datetime) -> Task:
    escalated = replace(
        _add_guidance(task, reason),
        recovery_action=Action.ESCALATE_TO_HUMAN,
        wait=None,
        skipped=None,
    )
    return escalated.move_to(Status.BLOCKED, blocked_at=truncate_to_millisecond(at))


def _review_failure_reason(review: Task) -> str:
    if review.status is Status.CANCELLED:
        return "The review of its specification was cancelled."
    error = truncate(review.last_error or "no reason is known", ERROR_LIMIT)
    return quote("The review of its specification failed:", error)


def _add_guidance(task: Task, guidance: str) -> Task:
    return replace(task, guidance=(*task.guidance, guidance)[-MAX_GUIDANCE:])
