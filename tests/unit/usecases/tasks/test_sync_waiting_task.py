"""A task and the review of its specification follow each other, whatever comes twice or late."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from duecourse.domain.errors import StaleTaskError
from duecourse.domain.lifecycle import user_actions
from duecourse.domain.lifecycle.awaited_task import awaited_task_id
from duecourse.domain.origin import Origin
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import ReviewLink, Task
from duecourse.domain.tasks.wait import Wait, WaitReason
from duecourse.usecases.failures.record_failure import record_failure
from duecourse.usecases.tasks.sync_waiting_task import sync_waiting_task

from tests.support.builders.failures import BOOM, a_failure_report
from tests.support.builders.moments import DAY, HOUR
from tests.support.builders.tasks import ID, a_task, an_action
from tests.support.review_bench import ReviewHarness


@pytest.fixture
def bench() -> ReviewHarness:
    """The task was just blocked, and its review made."""
    found = ReviewHarness()
    found.blocked_for_review()
    found.sent()
    return found


# Made by the same write


def test_the_third_code_error_blocks_the_task_and_makes_its_review() -> None:
    bench = ReviewHarness()
    task = bench.blocked_for_review()
    assert (task.status, task.recovery_action) == (Status.BLOCKED, "retry_with_spec_refresh")
    assert (bench.review.status, bench.review.due_at) == (Status.PENDING, bench.clock.at)
    assert bench.sent()[-1] == bench.review.id


def test_a_report_that_comes_again_makes_no_second_review_and_sends_the_first(
    bench: ReviewHarness,
) -> None:
    assert bench.task.run is not None
    again = replace(a_failure_report(bench.task), run_id=bench.task.run.id)
    assert record_failure(again, bench.recorder) is None
    assert bench.sent() == [bench.review.id]


def test_a_task_without_a_specification_is_not_reviewed() -> None:
    bench = ReviewHarness(payload={"provider": "scripted"})
    task = bench.blocked_for_review()
    assert (task.status, bench.reviews) == (Status.PENDING, [])


def test_a_task_that_nobody_could_review_is_tried_again_with_guidance() -> None:
    bench = ReviewHarness(payload={"spec": "x"})
    task = bench.blocked_for_review()
    assert (task.recovery_action, bench.reviews) == ("retry_with_guidance", [])


def test_a_series_waits_for_no_review() -> None:
    bench = ReviewHarness(repeat="daily")
    task = bench.blocked_for_review()
    assert (task.status, bench.reviews) == (Status.PENDING, [])


def test_a_review_that_fails_is_not_reviewed_in_its_turn(bench: ReviewHarness) -> None:
    for _ in range(3):
        bench.fail(bench.review)
    assert bench.review.recovery_action == "retry_with_guidance"


# It ends


@pytest.mark.parametrize("times", [1, 3])
def test_a_completed_review_takes_the_task_up_once(bench: ReviewHarness, times: int) -> None:
    bench.clock.at += HOUR
    bench.complete(bench.review)
    bench.follow(times=times)
    assert (bench.task.status, bench.task.due_at) == (Status.PENDING, bench.clock.at)
    assert sum("Say which foo" in said for said in bench.task.guidance) == 1
    assert set(bench.sent()) == {ID}


def test_a_record_that_comes_late_does_not_wake_what_has_gone_on(bench: ReviewHarness) -> None:
    before = bench.review
    done = bench.complete(before)
    bench.follow()
    bench.complete(bench.task)
    ended = bench.task
    sync_waiting_task(before, done, bench.follower)
    assert bench.task == ended


def test_whoever_died_before_sending_it_sends_it_the_next_time(bench: ReviewHarness) -> None:
    before, done = bench.review, bench.complete(bench.review)
    bench.follow()
    bench.queue.clear()
    sync_waiting_task(before, done, bench.follower)
    assert bench.sent() == [ID]


def test_a_task_of_another_owner_is_no_review_whatever_it_says(bench: ReviewHarness) -> None:
    stranger = an_action(id="other", sender_id="bob", review=ReviewLink(ID))
    bench.store.tasks[stranger.id] = stranger
    before = bench.task
    sync_waiting_task(None, stranger, bench.follower)
    assert (bench.task, bench.store.tasks["other"]) == (before, stranger)
    assert bench.sent() == []


def test_a_review_that_fails_for_good_escalates_the_task(bench: ReviewHarness) -> None:
    for _ in range(4):
        bench.fail(bench.review)
    bench.follow(times=2)
    assert (bench.task.status, bench.task.recovery_action) == (
        *(Status.BLOCKED, "escalate_to_human"),
    )
    assert "The review of its specification failed" in bench.task.guidance[-1]
    assert bench.kinds().count("task:escalated") == 2, "one each, of the review and of the task"


def test_of_a_blocked_review_only_the_task_waits_for_a_person(bench: ReviewHarness) -> None:
    for _ in range(4):
        bench.fail(bench.review)
    bench.follow()
    assert bench.review.status is Status.CANCELLED


def test_a_review_that_is_called_off_escalates_the_task(bench: ReviewHarness) -> None:
    bench.cancel(bench.review)
    bench.follow(times=2)
    assert bench.task.recovery_action == "escalate_to_human"


def test_a_review_that_is_retried_in_between_keeps_the_task_waiting(bench: ReviewHarness) -> None:
    bench.fail(bench.review)
    bench.follow()
    assert bench.task.recovery_action == "retry_with_spec_refresh"
    assert bench.review.status is Status.PENDING


# The task leaves


@pytest.mark.parametrize("move", [user_actions.cancel, user_actions.retry, user_actions.unblock])
def test_a_task_that_waits_no_more_calls_its_review_off(
    bench: ReviewHarness, move: Callable[..., Task]
) -> None:
    after = bench.wish(bench.task, move)
    bench.follow(times=2)
    assert bench.review.status is Status.CANCELLED
    assert bench.task == after


def test_a_review_that_runs_is_called_off_once_it_waits_again(bench: ReviewHarness) -> None:
    running = bench.claim(bench.review)
    bench.wish(bench.task, user_actions.retry)
    bench.follow()
    assert bench.review == running
    bench.fail(running)
    bench.follow()
    assert bench.review.status is Status.CANCELLED


def test_the_answer_of_a_review_that_nobody_waits_for_changes_nothing(bench: ReviewHarness) -> None:
    running = bench.claim(bench.review)
    bench.cancel(bench.task)
    bench.complete(running)
    bench.follow()
    assert (bench.task.status, bench.review.status) == (Status.CANCELLED, Status.COMPLETED)


def test_a_review_whose_task_is_gone_is_called_off(bench: ReviewHarness) -> None:
    changes = [one for one in bench.store.changes if one[1].id == bench.review.id]
    del bench.store.tasks[ID]
    for old, new in changes:
        sync_waiting_task(old, new, bench.follower)
    assert bench.review.status is Status.CANCELLED


def test_a_task_whose_review_is_gone_is_escalated(bench: ReviewHarness) -> None:
    del bench.store.tasks[bench.review.id]
    bench.follow()
    assert bench.task.recovery_action == "escalate_to_human"


# A person says what it was


def test_what_is_said_to_be_a_code_error_is_reviewed_as_well() -> None:
    bench = ReviewHarness()
    for _ in range(2):
        bench.fail(bench.task)
    bench.fail(bench.task, BOOM)
    assert bench.reviews == []
    bench.reclassify("code_error")
    assert bench.task.recovery_action == "retry_with_spec_refresh"
    assert bench.review.due_at == bench.task.blocked_at
    assert bench.task.due_at <= bench.review.due_at, "its retry comes no more"
    assert bench.sent()[-1] == bench.review.id


def test_what_was_no_bug_after_all_is_reviewed_and_that_is_told() -> None:
    bench = ReviewHarness()
    for _ in range(2):
        bench.fail(bench.task)
    bench.fail(bench.task, BOOM, origin=Origin.LOGIC)
    assert bench.task.recovery_action == "await_fix"
    bench.store.changes.clear()
    bench.reclassify("code_error")
    bench.follow()
    assert bench.review.status is Status.PENDING
    assert bench.kinds() == [
        *("task:reclassified", "task:recovery_action", "task:spec_refresh_requested"),
    ]


def test_what_is_said_to_be_something_else_calls_the_review_off(bench: ReviewHarness) -> None:
    bench.reclassify("transient")
    bench.follow()
    assert (bench.task.status, bench.review.status) == (Status.PENDING, Status.CANCELLED)


def test_another_kind_that_is_reviewed_keeps_the_review(bench: ReviewHarness) -> None:
    bench.clock.at += HOUR
    bench.reclassify("test_failure")
    bench.follow()
    assert (bench.task.status, bench.review.status) == (Status.BLOCKED, Status.PENDING)
    assert awaited_task_id(bench.task) == bench.review.id


def test_whoever_changes_their_mind_twice_gets_a_review_of_its_own(bench: ReviewHarness) -> None:
    """The one before was called off in between, and nobody would ever answer it."""
    first = bench.review
    bench.reclassify("transient")
    bench.follow()
    bench.reclassify("code_error")
    bench.follow(times=2)
    [second] = [review for review in bench.reviews if review.id != first.id]
    assert bench.store.tasks[first.id].status is Status.CANCELLED
    assert (bench.task.recovery_action, awaited_task_id(bench.task)) == (
        *("retry_with_spec_refresh", second.id),
    )
    assert bench.task.wait == Wait(WaitReason.SPEC_REVIEW, task_id=second.id)
    assert bench.sent()[-1] == second.id
    bench.complete(second)
    bench.follow()
    assert bench.task.status is Status.PENDING


def test_whoever_changes_their_mind_at_once_gets_a_review_of_its_own_too(
    bench: ReviewHarness,
) -> None:
    """What is followed late calls off the first one, and not the other."""
    first = bench.review
    bench.reclassify("transient")
    bench.reclassify("code_error")
    bench.follow()
    states = {review.id: review.status for review in bench.reviews}
    assert states.pop(first.id) is Status.CANCELLED
    assert states == {awaited_task_id(bench.task): Status.PENDING}


def test_after_a_review_that_led_to_nothing_another_may_be_asked_for(bench: ReviewHarness) -> None:
    for category in ("test_failure", "code_error", "test_failure"):
        bench.cancel(bench.reviews[-1])
        bench.follow()
        assert bench.task.recovery_action == "escalate_to_human"
        bench.reclassify(category)
        bench.follow()
    assert len(bench.reviews) == 4
    assert bench.reviews[-1].status is Status.PENDING
    assert awaited_task_id(bench.task) == bench.reviews[-1].id


def test_what_nobody_answered_may_be_reviewed_after_all(bench: ReviewHarness) -> None:
    bench.sweep(after=DAY)
    bench.follow()
    assert (bench.task.status, bench.review.status) == (Status.FAILED, Status.CANCELLED)
    bench.reclassify("test_failure")
    bench.follow()
    assert bench.task.status is Status.BLOCKED
    assert awaited_task_id(bench.task) == bench.reviews[-1].id
    assert bench.reviews[-1].status is Status.PENDING


def test_what_an_escalation_added_is_judged_anew_as_well(bench: ReviewHarness) -> None:
    first = bench.task.guidance
    bench.cancel(bench.review)
    bench.follow()
    bench.reclassify("transient")
    assert bench.task.guidance[:-1] == first[:-1]


# Races


def test_a_race_that_is_lost_is_run_again(bench: ReviewHarness) -> None:
    bench.complete(bench.review)

    def cancel() -> None:
        bench.store.tasks[ID] = user_actions.cancel(bench.task, at=bench.clock.at)

    bench.store.rivals = [cancel]
    bench.follow()
    assert bench.task.status is Status.CANCELLED


def test_a_race_that_is_lost_again_and_again_comes_back(bench: ReviewHarness) -> None:
    before, done = bench.review, bench.complete(bench.review)

    def touch() -> None:
        task = bench.task
        bench.store.tasks[ID] = replace(task, version=task.version + 1)

    bench.store.rivals = [touch] * 3
    with pytest.raises(StaleTaskError):
        sync_waiting_task(before, done, bench.follower)


@pytest.mark.parametrize("status", list(Status))
def test_of_other_tasks_nothing_is_read(status: Status) -> None:
    bench = ReviewHarness()
    bench.store.tasks.clear()
    sync_waiting_task(a_task(), a_task(status=status), bench.follower)
    sync_waiting_task(a_task(), None, bench.follower)
    assert bench.sent() == []
