"""What becomes of a blocked task without a person's word: its review ends, or its time is up."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from duecourse.domain.lifecycle.apply_failure import GUIDANCE_KEPT
from duecourse.domain.lifecycle.blocked import blocked_until
from duecourse.domain.lifecycle.user_actions import due_again, unasked
from duecourse.domain.tasks.outcome_marker import answer_in
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.text.formatting import beginning
from duecourse.domain.text.redaction import REDACTED_LIMIT, clean
from duecourse.domain.time.instant import to_millisecond

ANSWER_LIMIT = 2_000
ERROR_LIMIT = 300
_IN_VAIN = (Status.FAILED, Status.BLOCKED, Status.CANCELLED)


def timed_out(task: Task, *, at: datetime, blocked_for: timedelta) -> Task:
    """It failed, as nobody answered; itself while there is time left."""
    until = blocked_until(task, blocked_for=blocked_for)
    if until is None or at < until:
        return task
    closed = replace(task, closed_at=to_millisecond(at), wait=None, skipped=None)
    return closed.move_to(Status.FAILED)


def after_review(task: Task, review: Task | None, *, at: datetime) -> Task:
    """What the end of its review makes of the task that waits for it; itself while it goes on."""
    if review is None:
        return _escalated(task, "The review of its specification is gone.", at=at)
    if review.status is Status.COMPLETED:
        return _taken_up(task, review, at=at)
    return _escalated(task, _why(review), at=at) if review.status in _IN_VAIN else task


def _taken_up(task: Task, review: Task, *, at: datetime) -> Task:
    answer = answer_in(review.run.mutation.result if review.run else None)
    # Half of a secret would not show what it is: first it is hidden, then cut.
    shown = beginning(clean(answer, REDACTED_LIMIT), ANSWER_LIMIT)
    said = f"The specification was reviewed{f': {shown}' if answer else '.'}"
    again = due_again(_advised(task, said), at=at, retry_count=task.retry_count)
    return replace(unasked(again), reviewed_at=to_millisecond(at))


def _escalated(task: Task, why: str, *, at: datetime) -> Task:
    escalated = replace(
        _advised(task, why), recovery_action=Action.ESCALATE_TO_HUMAN, wait=None, skipped=None
    )
    return escalated.move_to(Status.BLOCKED, blocked_at=to_millisecond(at))


def _why(review: Task) -> str:
    if review.status is Status.CANCELLED:
        return "The review of its specification was called off."
    error = beginning(review.last_error or "no reason is known", ERROR_LIMIT)
    return f"The review of its specification failed: {error}"


def _advised(task: Task, said: str) -> Task:
    return replace(task, guidance=(*task.guidance, said)[-GUIDANCE_KEPT:])
