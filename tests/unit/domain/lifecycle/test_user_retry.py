"""A user retries a failed task or unblocks a blocked one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from duecourse.domain.errors import InvalidStateError
from duecourse.domain.lifecycle import run_transitions, user_actions
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run import Reason
from duecourse.domain.tasks.skipped import SkippedOccurrences, SkipReason
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task

from tests.support.builders.failures import fail_repeatedly
from tests.support.builders.moments import DAY, HOUR, MILLISECOND, NOW
from tests.support.builders.runs import run_of
from tests.support.builders.tasks import PROVIDER_DOWN, a_task, a_timing_edit, an_action, claim_task

LATER = NOW + DAY
USER_ACTIONS: dict[str, Callable[..., Task]] = {
    "retried": user_actions.retry,
    "unblocked": user_actions.unblock,
}


def an_escalated_task() -> Task:
    return an_action(status=Status.BLOCKED, retry_count=4, recovery_action=Action.ESCALATE_TO_HUMAN)


# Both


@pytest.mark.parametrize("verb", USER_ACTIONS)
def test_a_running_task_cannot_be_retried_or_unblocked(verb: str) -> None:
    with pytest.raises(InvalidStateError, match=f"is running right now: it cannot be {verb}$"):
        USER_ACTIONS[verb](claim_task(a_task()), at=NOW)


@pytest.mark.parametrize("user_action", USER_ACTIONS.values(), ids=USER_ACTIONS)
def test_the_task_is_due_at_once(user_action: Callable[..., Task]) -> None:
    task = user_action(an_escalated_task(), at=LATER)
    assert (task.status, task.due_at, task.next_retry_at) == (Status.PENDING, LATER, None)


@pytest.mark.parametrize("user_action", USER_ACTIONS.values(), ids=USER_ACTIONS)
def test_the_task_keeps_nominal_at(user_action: Callable[..., Task]) -> None:
    assert user_action(an_escalated_task(), at=LATER).nominal_at == NOW


@pytest.mark.parametrize("user_action", USER_ACTIONS.values(), ids=USER_ACTIONS)
def test_wait_pause_and_skipped_occurrences_are_cleared(user_action: Callable[..., Task]) -> None:
    task = a_task(
        status=Status.BLOCKED,
        wait=PROVIDER_DOWN,
        closed_at=NOW,
        skipped=SkippedOccurrences(1, SkipReason.PAUSED),
        paused=True,
    )
    task = user_action(task, at=LATER)
    assert (task.wait, task.closed_at, task.skipped, task.is_waiting) == (
        *(None, None, None, True),
    )


@pytest.mark.parametrize("user_action", USER_ACTIONS.values(), ids=USER_ACTIONS)
def test_the_due_time_is_rounded_down_to_milliseconds(user_action: Callable[..., Task]) -> None:
    at = NOW + timedelta(microseconds=1999)
    assert user_action(an_escalated_task(), at=at).due_at == NOW + MILLISECOND


@pytest.mark.parametrize("user_action", USER_ACTIONS.values(), ids=USER_ACTIONS)
def test_guidance_and_last_error_are_kept(user_action: Callable[..., Task]) -> None:
    task = user_action(fail_repeatedly(an_action(), 4), at=LATER)
    assert (len(task.guidance), task.last_error) == (4, "boom")


# Retry


@pytest.mark.parametrize(
    "task",
    [fail_repeatedly(a_task(), 3), an_escalated_task(), fail_repeatedly(a_task(), 1)],
    ids=["failed", "blocked", "waiting for a retry"],
)
def test_a_retry_resets_the_retry_count(task: Task) -> None:
    after = user_actions.retry(task, at=NOW)
    assert (after.status, after.due_at, after.retry_count) == (Status.PENDING, NOW, 0)


@pytest.mark.parametrize(
    "status", ["pending", "pending_verification", "delivered", "completed", "cancelled"]
)
def test_a_task_without_a_failure_cannot_be_retried(status: str) -> None:
    with pytest.raises(InvalidStateError, match=f"is {status}: it has no failure to retry$"):
        user_actions.retry(a_task(status=Status(status)), at=NOW)


def test_the_next_run_has_the_reason_user_retry() -> None:
    retried = user_actions.retry(fail_repeatedly(a_task(), 3), at=LATER)
    run = run_of(claim_task(retried, "run-x", at=LATER))
    assert (run.attempt, run.reason) == (4, Reason.USER_RETRY)


def test_the_next_run_has_the_same_idempotency_key() -> None:
    given_up = fail_repeatedly(a_task(), 3)
    run = run_of(claim_task(user_actions.retry(given_up, at=LATER), "run-x", at=LATER))
    assert run.mutation.idempotency_key == run_of(given_up).mutation.idempotency_key


def test_a_retried_task_fails_permanently_after_three_more_failures() -> None:
    retried = user_actions.retry(fail_repeatedly(a_task(), 3), at=LATER)
    assert [str(fail_repeatedly(retried, n).status) for n in (1, 2, 3)] == [
        *("pending", "pending", "failed"),
    ]


# Unblock


@pytest.mark.parametrize("status", sorted(set(Status) - {Status.BLOCKED, Status.IN_PROGRESS}))
def test_only_a_blocked_task_can_be_unblocked(status: Status) -> None:
    with pytest.raises(InvalidStateError, match=f"is {status}: it is not blocked$"):
        user_actions.unblock(a_task(status=status), at=NOW)


def test_an_unblocked_task_keeps_its_retry_count() -> None:
    assert user_actions.unblock(an_escalated_task(), at=NOW).retry_count == 4


def test_an_unblocked_task_that_fails_again_is_marked_as_blocked() -> None:
    task = fail_repeatedly(user_actions.unblock(an_escalated_task(), at=LATER), 1)
    assert (task.status, task.recovery_action) == (Status.BLOCKED, "mark_as_blocked")


# Other user actions on deferred and paused tasks


@pytest.mark.parametrize(
    "user_action",
    [
        lambda task: user_actions.run_now(task, at=NOW),
        lambda task: user_actions.edit(task, a_timing_edit(NOW + HOUR)),
        lambda task: user_actions.cancel(task, at=NOW),
    ],
    ids=["run now", "edited", "cancelled"],
)
def test_running_editing_or_cancelling_a_deferred_task_clears_its_wait(
    user_action: Callable[[Task], Task],
) -> None:
    deferred = run_transitions.defer(a_task(), until=LATER, wait=PROVIDER_DOWN)
    assert user_action(deferred).wait is None


def test_a_paused_task_must_be_resumed_before_a_retry() -> None:
    paused = user_actions.pause(fail_repeatedly(a_task(), 1))
    with pytest.raises(InvalidStateError, match="paused: resume it first"):
        user_actions.retry(paused, at=NOW)
