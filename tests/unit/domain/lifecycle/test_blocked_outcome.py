"""How a spec review or the blocked timeout ends a blocked task."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from duecourse.domain.chat.notifications_for import notifications_for
from duecourse.domain.journal.history import events_between
from duecourse.domain.lifecycle import user_actions
from duecourse.domain.lifecycle.blocked import (
    blocked_timeout_reason,
    blocked_until,
    can_time_out,
    is_escalation,
)
from duecourse.domain.lifecycle.blocked_outcome import apply_review, expire_blocked
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run import (
    IndeterminatePolicy,
    Mutation,
    MutationStatus,
    Reason,
    RunStatus,
)
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task

from tests.support.builders.failures import fail_repeatedly, fail_task
from tests.support.builders.moments import DAY, HOUR, MILLISECOND, NOW
from tests.support.builders.reviews import a_task_awaiting_review, review_of
from tests.support.builders.runs import a_run, run_of
from tests.support.builders.tasks import a_task, an_action, claim_task

LATER = NOW + HOUR
REVIEW_REPLY = "Say which foo is meant.\nACTION_OUTCOME: success"


def end_review(review: Task, status: Status, reply: str | None = None, **fields: Any) -> Task:
    mutation = Mutation(idempotency_key="k", status=MutationStatus.APPLIED, result={"reply": reply})
    run = a_run(id="r", mutation=mutation, status=RunStatus.COMMITTED, ended_at=LATER)
    return replace(review, status=status, run=run, **fields)


def event_details(old: Task, new: Task) -> list[tuple[str, dict[str, Any]]]:
    return [(event.type, event.detail) for event in events_between(old, new, at=LATER)]


def notification_texts(old: Task, new: Task) -> list[str]:
    return [notification.message.text for notification in notifications_for(old, new)]


# The review ends


def test_a_completed_review_unblocks_the_task_and_adds_its_reply_to_the_guidance() -> None:
    task = a_task_awaiting_review()
    after = apply_review(
        task, end_review(review_of(task), Status.COMPLETED, REVIEW_REPLY), at=LATER
    )
    assert (after.status, after.due_at, after.retry_count) == (Status.PENDING, LATER, 3)
    assert after.guidance[-1] == "The specification was reviewed:\n> Say which foo is meant."
    assert after.guidance[:-1] == task.guidance
    assert (after.wait, after.blocked_at, after.rescheduled_at) == (None, None, None)
    assert after.reviewed_at == LATER


def test_the_run_after_a_review_is_an_automatic_retry_even_without_guidance() -> None:
    task = a_task_awaiting_review()
    after = apply_review(
        task, end_review(review_of(task), Status.COMPLETED, REVIEW_REPLY), at=LATER
    )
    without_guidance = replace(after, guidance=())
    assert run_of(claim_task(without_guidance, "run-9", at=LATER)).reason is Reason.TRANSIENT
    assert event_details(task, without_guidance)[0][1]["review_task_id"] == review_of(task).id


def test_a_failure_after_the_review_clears_reviewed_at() -> None:
    task = a_task_awaiting_review()
    after = apply_review(
        task, end_review(review_of(task), Status.COMPLETED, REVIEW_REPLY), at=LATER
    )
    assert fail_task(claim_task(after, "run-9", at=LATER), at=LATER).reviewed_at is None


@pytest.mark.parametrize("reply", [None, "", "ACTION_OUTCOME: success"])
def test_a_review_with_an_empty_reply_still_unblocks_the_task(reply: str | None) -> None:
    task = a_task_awaiting_review()
    after = apply_review(task, end_review(review_of(task), Status.COMPLETED, reply), at=LATER)
    assert after.guidance[-1] == "The specification was reviewed."


def test_a_long_reply_is_truncated_and_the_oldest_guidance_is_dropped() -> None:
    task = a_task_awaiting_review(guidance=tuple(str(n) for n in range(10)))
    after = apply_review(task, end_review(review_of(task), Status.COMPLETED, "x" * 9_000), at=LATER)
    assert len(after.guidance) == 10
    assert len(after.guidance[-1]) < 2_100


@pytest.mark.parametrize("before", ["", "x" * 1_990 + " "])
def test_a_secret_in_the_reply_is_redacted_even_at_the_truncation_point(before: str) -> None:
    task, reply = (
        a_task_awaiting_review(),
        f"{before}sk-abcdefghijklmnopqrstuvwxyz0123456789ABCD is the key",
    )
    after = apply_review(task, end_review(review_of(task), Status.COMPLETED, reply), at=LATER)
    assert "sk-" not in after.guidance[-1]
    assert "[redacted" in after.guidance[-1]


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (Status.FAILED, "The review of its specification failed:\n> no such model"),
        (Status.BLOCKED, "The review of its specification failed:\n> no such model"),
        (Status.CANCELLED, "The review of its specification was cancelled."),
    ],
)
def test_a_review_that_fails_or_is_cancelled_escalates_the_task(status: Status, why: str) -> None:
    task = a_task_awaiting_review()
    after = apply_review(
        task, end_review(review_of(task), status, last_error="no such model"), at=LATER
    )
    assert (after.status, after.recovery_action) == (Status.BLOCKED, "escalate_to_human")
    assert (after.guidance[-1], after.blocked_at, after.wait) == (why, LATER, None)


def test_a_missing_review_escalates_the_task() -> None:
    after = apply_review(a_task_awaiting_review(), None, at=LATER)
    assert after.recovery_action == "escalate_to_human"


@pytest.mark.parametrize(
    "status", [Status.PENDING, Status.IN_PROGRESS, Status.PENDING_VERIFICATION]
)
def test_an_open_review_keeps_the_task_blocked(status: Status) -> None:
    task = a_task_awaiting_review()
    assert apply_review(task, replace(review_of(task), status=status), at=LATER) is task


def test_the_history_records_both_the_unblocking_and_the_escalation() -> None:
    task = a_task_awaiting_review()
    review = review_of(task)
    resumed = apply_review(task, end_review(review, Status.COMPLETED, REVIEW_REPLY), at=LATER)
    [(event_type, detail)] = event_details(task, resumed)
    assert (event_type, detail["from"], detail["review_task_id"]) == (
        *("task:unblocked", "blocked", review.id),
    )
    escalated = apply_review(task, end_review(review, Status.CANCELLED), at=LATER)
    assert is_escalation(task, escalated)
    [(_, action), (event_type, detail)] = event_details(task, escalated)
    assert action["action"] == "escalate_to_human"
    assert (event_type, detail["review_task_id"]) == ("task:escalated", review.id)
    assert detail["reason"] == "The review of its specification was cancelled."
    assert (detail["error"], detail["category"]) == ("boom", "code_error")


def test_the_escalation_notification_states_why_the_review_failed() -> None:
    task = a_task_awaiting_review()
    failed = end_review(review_of(task), Status.FAILED, last_error="no such model")
    [text] = notification_texts(task, apply_review(task, failed, at=LATER))
    assert "needs you" in text
    assert "The review of its specification failed: no such model" in text


@pytest.mark.parametrize("status", [Status.BLOCKED, Status.FAILED])
def test_a_failed_review_sends_no_notification_of_its_own(status: Status) -> None:
    review = review_of(a_task_awaiting_review())
    assert (
        notification_texts(replace(review, status=Status.IN_PROGRESS), end_review(review, status))
        == []
    )


# The blocked timeout


def an_escalated_task(**fields: Any) -> Task:
    """Return a task that was escalated at NOW."""
    return replace(fail_repeatedly(an_action(), 4), blocked_at=NOW, **fields)


@pytest.mark.parametrize(
    ("after", "is_over"),
    [(DAY - MILLISECOND, False), (DAY, True), (DAY + MILLISECOND, True)],
)
def test_a_blocked_task_fails_at_its_timeout(after: timedelta, is_over: bool) -> None:
    task = an_escalated_task()
    expired = expire_blocked(task, at=NOW + after, timeout=DAY)
    assert (expired is not task) is is_over
    if is_over:
        assert (expired.status, expired.closed_at) == (Status.FAILED, NOW + after)
        assert (expired.last_error, expired.blocked_at) == (task.last_error, None)


def test_blocked_until_is_the_escalation_time_plus_the_timeout() -> None:
    assert blocked_until(an_escalated_task(), timeout=DAY) == NOW + DAY


def test_a_task_awaiting_review_times_out_too() -> None:
    assert (
        expire_blocked(a_task_awaiting_review(), at=NOW + DAY, timeout=DAY).status is Status.FAILED
    )


def test_a_task_without_blocked_at_times_out_from_the_end_of_its_run() -> None:
    task = an_escalated_task()
    assert task.run is not None
    old = replace(task, blocked_at=None, run=replace(task.run, ended_at=NOW - HOUR))
    assert expire_blocked(old, at=NOW + DAY - HOUR, timeout=DAY).status is Status.FAILED
    assert expire_blocked(old, at=NOW + DAY - HOUR - MILLISECOND, timeout=DAY) is old


INDETERMINATE_RUN = a_run(
    ended_at=NOW,
    indeterminate_policy=IndeterminatePolicy.ASK_PERSON,
    mutation=Mutation(idempotency_key="k", status=MutationStatus.INDETERMINATE),
)


@pytest.mark.parametrize(
    "fields",
    [
        {"recovery_action": Action.AWAIT_FIX},
        {"recovery_action": Action.ASK_PERSON},
        {"run": INDETERMINATE_RUN},
    ],
)
def test_a_task_awaiting_a_fix_or_a_resolution_never_times_out(fields: dict[str, Any]) -> None:
    task = an_escalated_task(**fields)
    assert not can_time_out(task)
    assert blocked_until(task, timeout=DAY) is None
    assert expire_blocked(task, at=NOW + 100 * DAY, timeout=DAY) is task


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.BLOCKED])
def test_only_a_blocked_task_times_out(status: Status) -> None:
    task = a_task(status=status)
    assert blocked_until(task, timeout=DAY) is None
    assert expire_blocked(task, at=NOW + 100 * DAY, timeout=DAY) is task


def test_the_timeout_is_recorded_in_the_history_and_notified() -> None:
    task = an_escalated_task()
    after = expire_blocked(task, at=NOW + DAY, timeout=DAY)
    [(event_type, detail)] = event_details(task, after)
    assert (event_type, detail["reason"]) == ("task:failed", "nobody answered for 24 hours")
    assert (detail["error"], detail["category"]) == ("boom", "unknown")
    [text] = notification_texts(task, after)
    assert "nobody answered for 24 hours" in text
    assert f"/retry {task.short_id}" in text


def test_a_timeout_of_one_hour_is_worded_in_the_singular() -> None:
    task = an_escalated_task()
    after = expire_blocked(task, at=NOW + HOUR, timeout=HOUR)
    assert blocked_timeout_reason(task, after) == "nobody answered for 1 hour"


def test_a_user_can_retry_a_task_that_timed_out() -> None:
    after = user_actions.retry(
        expire_blocked(an_escalated_task(), at=NOW + DAY, timeout=DAY), at=NOW + 2 * DAY
    )
    assert (after.status, after.retry_count, after.closed_at) == (Status.PENDING, 0, None)


# blocked_at


@pytest.mark.parametrize(
    "user_action", [user_actions.retry, user_actions.unblock, user_actions.cancel]
)
def test_every_move_out_of_blocked_clears_blocked_at(user_action: Any) -> None:
    assert user_action(an_escalated_task(), at=LATER).blocked_at is None
