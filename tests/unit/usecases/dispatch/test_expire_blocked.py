"""What nobody answers for a day has failed; its review is called off with it."""

from __future__ import annotations

import pytest
from duecourse.domain.lifecycle import user_actions
from duecourse.domain.tasks.status import Status
from duecourse.usecases.dispatch.expire_blocked import expire_blocked_tasks

from tests.support.builders.moments import DAY, HOUR, MINUTE, NOW
from tests.support.builders.tasks import ID
from tests.support.review_bench import ReviewHarness


@pytest.fixture
def bench() -> ReviewHarness:
    """The task waits for its review."""
    found = ReviewHarness()
    found.blocked_for_review()
    return found


def test_time_out_ends_the_task_and_calls_its_review_off(bench: ReviewHarness) -> None:
    bench.clock.at += MINUTE
    bench.fail(bench.review)
    assert bench.sweep(after=DAY) == 1
    bench.follow()
    assert (bench.task.status, bench.review.status) == (Status.FAILED, Status.CANCELLED)
    assert bench.kinds().count("task:failed") == 1


def test_an_escalation_after_a_review_has_its_own_day(bench: ReviewHarness) -> None:
    bench.clock.at += 20 * HOUR
    bench.cancel(bench.review)
    bench.follow()
    assert bench.sweep(after=20 * HOUR) == 0
    assert bench.sweep(after=4 * HOUR) == 1


def test_a_sweep_that_comes_second_changes_nothing(bench: ReviewHarness) -> None:
    bench.sweep(after=DAY)
    ended = bench.task
    assert (bench.sweep(after=DAY), bench.task) == (0, ended)


def test_a_failure_that_was_another_is_taken_up_again_afterwards(bench: ReviewHarness) -> None:
    bench.sweep(after=DAY)
    task = bench.reclassify("transient")
    assert (task.status, task.due_at, task.closed_at) == (Status.PENDING, bench.clock.at, None)


def test_a_person_who_is_faster_than_the_sweep_wins(bench: ReviewHarness) -> None:
    def retried() -> None:
        bench.store.tasks[ID] = user_actions.retry(bench.task, at=NOW)

    bench.store.rivals = [retried]
    assert bench.sweep(after=DAY) == 0
    assert bench.task.status is Status.PENDING


def test_a_sweep_without_time_leaves_the_rest_to_the_next(bench: ReviewHarness) -> None:
    bench.clock.at += DAY
    assert expire_blocked_tasks(bench.sweeper(lambda: False), DAY) == 0
    assert bench.sweep() == 1
