"""A blocked task fails after its timeout, and its spec review is cancelled."""

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
    """A harness with a task that waits for its spec review."""
    found = ReviewHarness()
    found.block_for_review()
    return found


def test_the_timeout_fails_the_task_and_cancels_its_review(harness: ReviewHarness) -> None:
    harness.clock.at += MINUTE
    harness.fail(harness.review)
    assert harness.sweep(after=DAY) == 1
    harness.process_changes()
    assert (harness.task.status, harness.review.status) == (Status.FAILED, Status.CANCELLED)
    assert harness.event_types().count("task:failed") == 1


def test_an_escalation_after_a_review_has_its_own_timeout(harness: ReviewHarness) -> None:
    harness.clock.at += 20 * HOUR
    harness.cancel(harness.review)
    harness.process_changes()
    assert harness.sweep(after=20 * HOUR) == 0
    assert harness.sweep(after=4 * HOUR) == 1


def test_a_second_sweep_changes_nothing(harness: ReviewHarness) -> None:
    harness.sweep(after=DAY)
    ended = harness.task
    assert (harness.sweep(after=DAY), harness.task) == (0, ended)


def test_an_expired_task_can_be_reclassified_and_retried(harness: ReviewHarness) -> None:
    harness.sweep(after=DAY)
    task = harness.reclassify("transient")
    assert (task.status, task.due_at, task.closed_at) == (Status.PENDING, harness.clock.at, None)


def test_a_concurrent_user_action_wins_over_the_sweep(harness: ReviewHarness) -> None:
    def retry_task() -> None:
        harness.store.tasks[ID] = user_actions.retry(harness.task, at=NOW)

    harness.store.concurrent_writes = [retry_task]
    assert harness.sweep(after=DAY) == 0
    assert harness.task.status is Status.PENDING


def test_a_sweep_that_runs_out_of_time_leaves_the_rest_to_the_next(harness: ReviewHarness) -> None:
    harness.clock.at += DAY
    assert expire_blocked_tasks(harness.sweep_deps(lambda: False), DAY) == 0
    assert harness.sweep() == 1
