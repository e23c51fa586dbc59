"""What nobody answers for a day has failed; its review is called off with it."""

from __future__ import annotations

import pytest
from duecourse.domain.lifecycle import user_actions
from duecourse.domain.tasks.status import Status
from duecourse.usecases.dispatch.expire_blocked import expire_blocked_tasks

from tests.support.builders.moments import DAY, HOUR, MINUTE, NOW
from tests.support.builders.tasks import ID
from tests.support.review_harness import ReviewHarness


@pytest.fixture
def harness() -> ReviewHarness:
    """The task waits for its review."""
    found = ReviewHarness()
    found.block_for_review()
    return found


def test_time_out_ends_the_task_and_calls_its_review_off(harness: ReviewHarness) -> None:
    harness.clock.at += MINUTE
    harness.fail(harness.review)
    assert harness.sweep(after=DAY) == 1
    harness.process_changes()
    assert (harness.task.status, harness.review.status) == (Status.FAILED, Status.CANCELLED)
    assert harness.event_types().count("task:failed") == 1


def test_an_escalation_after_a_review_has_its_own_day(harness: ReviewHarness) -> None:
    harness.clock.at += 20 * HOUR
    harness.cancel(harness.review)
    harness.process_changes()
    assert harness.sweep(after=20 * HOUR) == 0
    assert harness.sweep(after=4 * HOUR) == 1


def test_a_sweep_that_comes_second_changes_nothing(harness: ReviewHarness) -> None:
    harness.sweep(after=DAY)
    ended = harness.task
    assert (harness.sweep(after=DAY), harness.task) == (0, ended)


def test_a_failure_that_was_another_is_taken_up_again_afterwards(harness: ReviewHarness) -> None:
    harness.sweep(after=DAY)
    task = harness.reclassify("transient")
    assert (task.status, task.due_at, task.closed_at) == (Status.PENDING, harness.clock.at, None)


def test_a_person_who_is_faster_than_the_sweep_wins(harness: ReviewHarness) -> None:
    def retried() -> None:
        harness.store.tasks[ID] = user_actions.retry(harness.task, at=NOW)

    harness.store.concurrent_writes = [retried]
    assert harness.sweep(after=DAY) == 0
    assert harness.task.status is Status.PENDING


def test_a_sweep_without_time_leaves_the_rest_to_the_next(harness: ReviewHarness) -> None:
    harness.clock.at += DAY
    assert expire_blocked_tasks(harness.sweep_deps(lambda: False), DAY) == 0
    assert harness.sweep() == 1
