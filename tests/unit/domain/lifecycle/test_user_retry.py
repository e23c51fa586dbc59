"""A person tries again what failed, or lets go on what was blocked."""

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
WISHES: dict[str, Callable[..., Task]] = {
    "retried": user_actions.retry,
    "unblocked": user_actions.unblock,
}


def blocked() -> Task:
    return an_action(status=Status.BLOCKED, retry_count=4, recovery_action=Action.ESCALATE_TO_HUMAN)


# Both


@pytest.mark.parametrize("verb", WISHES)
def test_a_running_task_is_left_to_its_worker(verb: str) -> None:
    with pytest.raises(InvalidStateError, match=f"is running right now: it cannot be {verb}$"):
        WISHES[verb](claim_task(a_task()), at=NOW)


@pytest.mark.parametrize("wish", WISHES.values(), ids=WISHES)
def test_what_goes_on_is_due_at_once(wish: Callable[..., Task]) -> None:
    task = wish(blocked(), at=LATER)
    assert (task.status, task.due_at, task.next_retry_at) == (Status.PENDING, LATER, None)


@pytest.mark.parametrize("wish", WISHES.values(), ids=WISHES)
def test_what_goes_on_keeps_the_occurrences_own_time(wish: Callable[..., Task]) -> None:
    assert wish(blocked(), at=LATER).nominal_at == NOW


@pytest.mark.parametrize("wish", WISHES.values(), ids=WISHES)
def test_what_goes_on_waits_for_nothing_any_more(wish: Callable[..., Task]) -> None:
    task = a_task(
        status=Status.BLOCKED,
        wait=PROVIDER_DOWN,
        closed_at=NOW,
        skipped=SkippedOccurrences(1, SkipReason.PAUSED),
        paused=True,
    )
    task = wish(task, at=LATER)
    assert (task.wait, task.closed_at, task.skipped, task.is_waiting) == (
        *(None, None, None, True),
    )


@pytest.mark.parametrize("wish", WISHES.values(), ids=WISHES)
def test_the_present_is_rounded_down_to_what_can_be_stored(wish: Callable[..., Task]) -> None:
    at = NOW + timedelta(microseconds=1999)
    assert wish(blocked(), at=at).due_at == NOW + MILLISECOND


@pytest.mark.parametrize("wish", WISHES.values(), ids=WISHES)
def test_what_was_learnt_is_kept(wish: Callable[..., Task]) -> None:
    task = wish(fail_repeatedly(an_action(), 4), at=LATER)
    assert (len(task.guidance), task.last_error) == (4, "boom")


# Retry


@pytest.mark.parametrize(
    "task",
    [fail_repeatedly(a_task(), 3), blocked(), fail_repeatedly(a_task(), 1)],
    ids=["failed", "blocked", "waiting for a retry"],
)
def test_what_failed_is_tried_again_with_a_fresh_count(task: Task) -> None:
    after = user_actions.retry(task, at=NOW)
    assert (after.status, after.due_at, after.retry_count) == (Status.PENDING, NOW, 0)


@pytest.mark.parametrize(
    "status", ["pending", "pending_verification", "delivered", "completed", "cancelled"]
)
def test_where_nothing_failed_there_is_nothing_to_retry(status: str) -> None:
    with pytest.raises(InvalidStateError, match=f"is {status}: it has no failure to retry$"):
        user_actions.retry(a_task(status=Status(status)), at=NOW)


def test_the_run_that_follows_is_a_persons_wish() -> None:
    again = user_actions.retry(fail_repeatedly(a_task(), 3), at=LATER)
    run = run_of(claim_task(again, "run-x", at=LATER))
    assert (run.attempt, run.reason) == (4, Reason.USER_RETRY)


def test_the_run_that_follows_has_the_same_mutation_key() -> None:
    given_up = fail_repeatedly(a_task(), 3)
    run = run_of(claim_task(user_actions.retry(given_up, at=LATER), "run-x", at=LATER))
    assert run.mutation.idempotency_key == run_of(given_up).mutation.idempotency_key


def test_a_task_that_was_retried_fails_for_good_only_after_three_more() -> None:
    again = user_actions.retry(fail_repeatedly(a_task(), 3), at=LATER)
    assert [str(fail_repeatedly(again, n).status) for n in (1, 2, 3)] == [
        *("pending", "pending", "failed"),
    ]


# Unblock


@pytest.mark.parametrize("status", sorted(set(Status) - {Status.BLOCKED, Status.IN_PROGRESS}))
def test_only_what_is_blocked_can_be_unblocked(status: Status) -> None:
    with pytest.raises(InvalidStateError, match=f"is {status}: it is not blocked$"):
        user_actions.unblock(a_task(status=status), at=NOW)


def test_the_failures_of_an_unblocked_task_still_count() -> None:
    assert user_actions.unblock(blocked(), at=NOW).retry_count == 4


def test_an_unblocked_task_that_fails_again_is_blocked_for_good() -> None:
    task = fail_repeatedly(user_actions.unblock(blocked(), at=LATER), 1)
    assert (task.status, task.recovery_action) == (Status.BLOCKED, "mark_as_blocked")


# What else a person may do to a task that is kept from running


@pytest.mark.parametrize(
    "wish",
    [
        lambda task: user_actions.run_now(task, at=NOW),
        lambda task: user_actions.edit(task, a_timing_edit(NOW + HOUR)),
        lambda task: user_actions.cancel(task, at=NOW),
    ],
    ids=["run now", "edited", "cancelled"],
)
def test_a_parked_task_with_a_new_time_or_none_no_longer_waits(
    wish: Callable[[Task], Task],
) -> None:
    waiting = run_transitions.defer(a_task(), until=LATER, wait=PROVIDER_DOWN)
    assert wish(waiting).wait is None


def test_a_paused_retry_is_not_run_behind_the_back_of_whoever_paused_it() -> None:
    paused = user_actions.pause(fail_repeatedly(a_task(), 1))
    with pytest.raises(InvalidStateError, match="paused: resume it first"):
        user_actions.retry(paused, at=NOW)
