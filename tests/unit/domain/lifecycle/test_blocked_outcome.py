"""What becomes of a blocked task without a person's word."""

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
DONE = "Say which foo is meant.\nACTION_OUTCOME: success"


def ended(review: Task, status: Status, reply: str | None = None, **fields: Any) -> Task:
    mutation = Mutation(idempotency_key="k", status=MutationStatus.APPLIED, result={"reply": reply})
    run = a_run(id="r", mutation=mutation, status=RunStatus.COMMITTED, ended_at=LATER)
    return replace(review, status=status, run=run, **fields)


def told(old: Task, new: Task) -> list[tuple[str, dict[str, Any]]]:
    return [(event.type, event.detail) for event in events_between(old, new, at=LATER)]


def said(old: Task, new: Task) -> list[str]:
    return [notice.message.text for notice in notifications_for(old, new)]


# Its review ends


def test_a_completed_review_lets_the_task_go_on_with_its_answer() -> None:
    task = a_task_awaiting_review()
    after = apply_review(task, ended(review_of(task), Status.COMPLETED, DONE), at=LATER)
    assert (after.status, after.due_at, after.retry_count) == (Status.PENDING, LATER, 3)
    assert after.guidance[-1] == "The specification was reviewed: Say which foo is meant."
    assert after.guidance[:-1] == task.guidance
    assert (after.wait, after.blocked_at, after.rescheduled_at) == (None, None, None)
    assert after.reviewed_at == LATER


def test_whatever_its_guidance_says_the_retry_after_a_review_comes_by_itself() -> None:
    task = a_task_awaiting_review()
    after = apply_review(task, ended(review_of(task), Status.COMPLETED, DONE), at=LATER)
    silent = replace(after, guidance=())
    assert run_of(claim_task(silent, "run-9", at=LATER)).reason is Reason.TRANSIENT
    assert told(task, silent)[0][1]["review_task_id"] == review_of(task).id


def test_a_task_that_fails_after_its_review_was_reviewed_no_more() -> None:
    task = a_task_awaiting_review()
    after = apply_review(task, ended(review_of(task), Status.COMPLETED, DONE), at=LATER)
    assert fail_task(claim_task(after, "run-9", at=LATER), at=LATER).reviewed_at is None


@pytest.mark.parametrize("reply", [None, "", "ACTION_OUTCOME: success"])
def test_a_review_without_a_word_is_one_all_the_same(reply: str | None) -> None:
    task = a_task_awaiting_review()
    after = apply_review(task, ended(review_of(task), Status.COMPLETED, reply), at=LATER)
    assert after.guidance[-1] == "The specification was reviewed."


def test_a_long_answer_is_cut_and_old_guidance_goes() -> None:
    task = a_task_awaiting_review(guidance=tuple(str(n) for n in range(10)))
    after = apply_review(task, ended(review_of(task), Status.COMPLETED, "x" * 9_000), at=LATER)
    assert len(after.guidance) == 10
    assert len(after.guidance[-1]) < 2_100


@pytest.mark.parametrize("before", ["", "x" * 1_990 + " "])
def test_a_secret_in_the_answer_is_hidden_even_where_it_is_cut(before: str) -> None:
    task, reply = (
        a_task_awaiting_review(),
        f"{before}sk-abcdefghijklmnopqrstuvwxyz0123456789ABCD is the key",
    )
    after = apply_review(task, ended(review_of(task), Status.COMPLETED, reply), at=LATER)
    assert "sk-" not in after.guidance[-1]
    assert "[redacted" in after.guidance[-1]


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (Status.FAILED, "The review of its specification failed: no such model"),
        (Status.BLOCKED, "The review of its specification failed: no such model"),
        (Status.CANCELLED, "The review of its specification was called off."),
    ],
)
def test_a_review_that_leads_to_nothing_escalates_the_task(status: Status, why: str) -> None:
    task = a_task_awaiting_review()
    after = apply_review(task, ended(review_of(task), status, last_error="no such model"), at=LATER)
    assert (after.status, after.recovery_action) == (Status.BLOCKED, "escalate_to_human")
    assert (after.guidance[-1], after.blocked_at, after.wait) == (why, LATER, None)


def test_a_review_that_is_gone_escalates_the_task() -> None:
    after = apply_review(a_task_awaiting_review(), None, at=LATER)
    assert after.recovery_action == "escalate_to_human"


@pytest.mark.parametrize(
    "status", [Status.PENDING, Status.IN_PROGRESS, Status.PENDING_VERIFICATION]
)
def test_while_the_review_goes_on_the_task_waits(status: Status) -> None:
    task = a_task_awaiting_review()
    assert apply_review(task, replace(review_of(task), status=status), at=LATER) is task


def test_the_history_tells_both() -> None:
    task = a_task_awaiting_review()
    review = review_of(task)
    went_on = apply_review(task, ended(review, Status.COMPLETED, DONE), at=LATER)
    [(kind, detail)] = told(task, went_on)
    assert (kind, detail["from"], detail["review_task_id"]) == (
        *("task:unblocked", "blocked", review.id),
    )
    escalated = apply_review(task, ended(review, Status.CANCELLED), at=LATER)
    assert is_escalation(task, escalated)
    [(_, action), (kind, detail)] = told(task, escalated)
    assert action["action"] == "escalate_to_human"
    assert (kind, detail["review_task_id"]) == ("task:escalated", review.id)
    assert detail["reason"] == "The review of its specification was called off."
    assert (detail["error"], detail["category"]) == ("boom", "code_error")


def test_people_are_told_that_it_needs_them_and_why() -> None:
    task = a_task_awaiting_review()
    failed = ended(review_of(task), Status.FAILED, last_error="no such model")
    [text] = said(task, apply_review(task, failed, at=LATER))
    assert "needs you" in text
    assert "The review of its specification failed: no such model." in text


@pytest.mark.parametrize("status", [Status.BLOCKED, Status.FAILED])
def test_that_the_review_itself_failed_is_told_of_the_task_alone(status: Status) -> None:
    review = review_of(a_task_awaiting_review())
    assert said(replace(review, status=Status.IN_PROGRESS), ended(review, status)) == []


# Its time is up


def blocked(**fields: Any) -> Task:
    """Escalated at this moment."""
    return replace(fail_repeatedly(an_action(), 4), blocked_at=NOW, **fields)


@pytest.mark.parametrize(
    ("after", "is_over"),
    [(DAY - MILLISECOND, False), (DAY, True), (DAY + MILLISECOND, True)],
)
def test_it_fails_when_nobody_answered_in_time(after: timedelta, is_over: bool) -> None:
    task = blocked()
    ended = expire_blocked(task, at=NOW + after, timeout=DAY)
    assert (ended is not task) is is_over
    if is_over:
        assert (ended.status, ended.closed_at) == (Status.FAILED, NOW + after)
        assert (ended.last_error, ended.blocked_at) == (task.last_error, None)


def test_it_says_until_when_somebody_may_answer() -> None:
    assert blocked_until(blocked(), timeout=DAY) == NOW + DAY


def test_what_waits_for_a_review_times_out_as_well() -> None:
    assert (
        expire_blocked(a_task_awaiting_review(), at=NOW + DAY, timeout=DAY).status is Status.FAILED
    )


def test_what_was_blocked_before_that_was_kept_counts_from_the_end_of_its_run() -> None:
    task = blocked()
    assert task.run is not None
    old = replace(task, blocked_at=None, run=replace(task.run, ended_at=NOW - HOUR))
    assert expire_blocked(old, at=NOW + DAY - HOUR, timeout=DAY).status is Status.FAILED
    assert expire_blocked(old, at=NOW + DAY - HOUR - MILLISECOND, timeout=DAY) is old


DOUBTFUL = a_run(
    ended_at=NOW,
    indeterminate_policy=IndeterminatePolicy.ASK_PERSON,
    mutation=Mutation(idempotency_key="k", status=MutationStatus.INDETERMINATE),
)


@pytest.mark.parametrize(
    "fields",
    [
        {"recovery_action": Action.AWAIT_FIX},
        {"recovery_action": Action.ASK_PERSON},
        {"run": DOUBTFUL},
    ],
)
def test_code_to_be_mended_and_an_open_question_are_waited_for(fields: dict[str, Any]) -> None:
    task = blocked(**fields)
    assert not can_time_out(task)
    assert blocked_until(task, timeout=DAY) is None
    assert expire_blocked(task, at=NOW + 100 * DAY, timeout=DAY) is task


@pytest.mark.parametrize("status", [one for one in Status if one is not Status.BLOCKED])
def test_only_what_is_blocked_times_out(status: Status) -> None:
    task = a_task(status=status)
    assert blocked_until(task, timeout=DAY) is None
    assert expire_blocked(task, at=NOW + 100 * DAY, timeout=DAY) is task


def test_the_end_is_in_the_history_and_told() -> None:
    task = blocked()
    after = expire_blocked(task, at=NOW + DAY, timeout=DAY)
    [(kind, detail)] = told(task, after)
    assert (kind, detail["reason"]) == ("task:failed", "nobody answered for 24 hours")
    assert (detail["error"], detail["category"]) == ("boom", "unknown")
    [text] = said(task, after)
    assert "nobody answered for 24 hours" in text
    assert f"/retry {task.short_id}" in text


def test_an_hour_is_one_hour() -> None:
    task = blocked()
    after = expire_blocked(task, at=NOW + HOUR, timeout=HOUR)
    assert blocked_timeout_reason(task, after) == "nobody answered for 1 hour"


def test_a_person_may_retry_it_afterwards() -> None:
    after = user_actions.retry(
        expire_blocked(blocked(), at=NOW + DAY, timeout=DAY), at=NOW + 2 * DAY
    )
    assert (after.status, after.retry_count, after.closed_at) == (Status.PENDING, 0, None)


# How long it is blocked


@pytest.mark.parametrize("move", [user_actions.retry, user_actions.unblock, user_actions.cancel])
def test_what_is_blocked_no_more_forgets_since_when(move: Any) -> None:
    assert move(blocked(), at=LATER).blocked_at is None
