"""A task and its spec review stay in sync, also when messages repeat or arrive late."""

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
from tests.support.review_harness import ReviewHarness


@pytest.fixture
def harness() -> ReviewHarness:
    """A harness whose task was just blocked and whose review was created."""
    prepared_harness = ReviewHarness()
    prepared_harness.block_for_review()
    prepared_harness.take_dispatched_ids()
    return prepared_harness


# Created in the same transaction


def test_the_third_code_error_blocks_the_task_and_creates_its_review() -> None:
    harness = ReviewHarness()
    task = harness.block_for_review()
    assert (task.status, task.recovery_action) == (Status.BLOCKED, "retry_with_spec_refresh")
    assert (harness.review.status, harness.review.due_at) == (Status.PENDING, harness.clock.at)
    assert harness.take_dispatched_ids()[-1] == harness.review.id


def test_a_duplicate_report_creates_no_second_review_and_enqueues_the_first(
    harness: ReviewHarness,
) -> None:
    assert harness.task.run is not None
    report = replace(a_failure_report(harness.task), run_id=harness.task.run.id)
    assert record_failure(report, harness.failure_deps) is None
    assert harness.take_dispatched_ids() == [harness.review.id]


def test_a_task_without_a_specification_is_not_reviewed() -> None:
    harness = ReviewHarness(payload={"provider": "scripted"})
    task = harness.block_for_review()
    assert (task.status, harness.reviews) == (Status.PENDING, [])


def test_a_task_without_a_provider_for_its_review_is_retried_with_guidance() -> None:
    harness = ReviewHarness(payload={"spec": "x"})
    task = harness.block_for_review()
    assert (task.recovery_action, harness.reviews) == ("retry_with_guidance", [])


def test_a_series_is_not_reviewed() -> None:
    harness = ReviewHarness(repeat="daily")
    task = harness.block_for_review()
    assert (task.status, harness.reviews) == (Status.PENDING, [])


def test_a_failed_review_is_not_reviewed_itself(harness: ReviewHarness) -> None:
    for _ in range(3):
        harness.fail(harness.review)
    assert harness.review.recovery_action == "retry_with_guidance"


# It ends


@pytest.mark.parametrize("times", [1, 3])
def test_a_completed_review_resumes_the_task_once(harness: ReviewHarness, times: int) -> None:
    harness.clock.at += HOUR
    harness.complete(harness.review)
    harness.process_changes(times=times)
    assert (harness.task.status, harness.task.due_at) == (Status.PENDING, harness.clock.at)
    assert sum("Say which foo" in guidance for guidance in harness.task.guidance) == 1
    assert set(harness.take_dispatched_ids()) == {ID}


def test_a_late_stream_record_does_not_resume_a_task_that_moved_on(harness: ReviewHarness) -> None:
    before = harness.review
    completed = harness.complete(before)
    harness.process_changes()
    harness.complete(harness.task)
    ended = harness.task
    sync_waiting_task(before, completed, harness.sync_deps)
    assert harness.task == ended


def test_a_task_not_enqueued_before_a_crash_is_enqueued_next_time(harness: ReviewHarness) -> None:
    before, completed = harness.review, harness.complete(harness.review)
    harness.process_changes()
    harness.queue.clear()
    sync_waiting_task(before, completed, harness.sync_deps)
    assert harness.take_dispatched_ids() == [ID]


def test_a_task_of_another_owner_is_never_a_review(harness: ReviewHarness) -> None:
    foreign_task = an_action(id="other", sender_id="bob", review=ReviewLink(ID))
    harness.store.tasks[foreign_task.id] = foreign_task
    before = harness.task
    sync_waiting_task(None, foreign_task, harness.sync_deps)
    assert (harness.task, harness.store.tasks["other"]) == (before, foreign_task)
    assert harness.take_dispatched_ids() == []


def test_a_permanently_failed_review_escalates_the_task(harness: ReviewHarness) -> None:
    for _ in range(4):
        harness.fail(harness.review)
    harness.process_changes(times=2)
    assert (harness.task.status, harness.task.recovery_action) == (
        *(Status.BLOCKED, "escalate_to_human"),
    )
    assert "The review of its specification failed" in harness.task.guidance[-1]
    assert harness.event_types().count("task:escalated") == 2, (
        "one each, of the review and of the task"
    )


def test_when_a_review_is_blocked_only_the_task_waits_for_a_person(harness: ReviewHarness) -> None:
    for _ in range(4):
        harness.fail(harness.review)
    harness.process_changes()
    assert harness.review.status is Status.CANCELLED


def test_a_cancelled_review_escalates_the_task(harness: ReviewHarness) -> None:
    harness.cancel(harness.review)
    harness.process_changes(times=2)
    assert harness.task.recovery_action == "escalate_to_human"


def test_a_review_that_is_being_retried_keeps_the_task_waiting(harness: ReviewHarness) -> None:
    harness.fail(harness.review)
    harness.process_changes()
    assert harness.task.recovery_action == "retry_with_spec_refresh"
    assert harness.review.status is Status.PENDING


# The task leaves


@pytest.mark.parametrize("move", [user_actions.cancel, user_actions.retry, user_actions.unblock])
def test_a_task_that_no_longer_waits_cancels_its_review(
    harness: ReviewHarness, move: Callable[..., Task]
) -> None:
    after = harness.apply_change(harness.task, move)
    harness.process_changes(times=2)
    assert harness.review.status is Status.CANCELLED
    assert harness.task == after


def test_a_running_review_is_cancelled_once_it_is_pending_again(harness: ReviewHarness) -> None:
    running = harness.claim(harness.review)
    harness.apply_change(harness.task, user_actions.retry)
    harness.process_changes()
    assert harness.review == running
    harness.fail(running)
    harness.process_changes()
    assert harness.review.status is Status.CANCELLED


def test_the_result_of_an_abandoned_review_changes_nothing(
    harness: ReviewHarness,
) -> None:
    running = harness.claim(harness.review)
    harness.cancel(harness.task)
    harness.complete(running)
    harness.process_changes()
    assert (harness.task.status, harness.review.status) == (Status.CANCELLED, Status.COMPLETED)


def test_a_review_whose_task_was_deleted_is_cancelled(harness: ReviewHarness) -> None:
    changes = [one for one in harness.store.changes if one[1].id == harness.review.id]
    del harness.store.tasks[ID]
    for old, new in changes:
        sync_waiting_task(old, new, harness.sync_deps)
    assert harness.review.status is Status.CANCELLED


def test_a_task_whose_review_was_deleted_is_escalated(harness: ReviewHarness) -> None:
    del harness.store.tasks[harness.review.id]
    harness.process_changes()
    assert harness.task.recovery_action == "escalate_to_human"


# A person says what it was


def test_a_failure_reclassified_as_a_code_error_is_reviewed() -> None:
    harness = ReviewHarness()
    for _ in range(2):
        harness.fail(harness.task)
    harness.fail(harness.task, BOOM)
    assert harness.reviews == []
    harness.reclassify("code_error")
    assert harness.task.recovery_action == "retry_with_spec_refresh"
    assert harness.review.due_at == harness.task.blocked_at
    assert harness.task.due_at <= harness.review.due_at, "its retry comes no more"
    assert harness.take_dispatched_ids()[-1] == harness.review.id


def test_a_logic_error_reclassified_as_a_code_error_is_reviewed() -> None:
    harness = ReviewHarness()
    for _ in range(2):
        harness.fail(harness.task)
    harness.fail(harness.task, BOOM, origin=Origin.LOGIC)
    assert harness.task.recovery_action == "await_fix"
    harness.store.changes.clear()
    harness.reclassify("code_error")
    harness.process_changes()
    assert harness.review.status is Status.PENDING
    assert harness.event_types() == [
        *("task:reclassified", "task:recovery_action", "task:spec_refresh_requested"),
    ]


def test_reclassifying_the_failure_cancels_the_review(harness: ReviewHarness) -> None:
    harness.reclassify("transient")
    harness.process_changes()
    assert (harness.task.status, harness.review.status) == (Status.PENDING, Status.CANCELLED)


def test_reclassifying_to_another_reviewed_category_keeps_the_review(
    harness: ReviewHarness,
) -> None:
    harness.clock.at += HOUR
    harness.reclassify("test_failure")
    harness.process_changes()
    assert (harness.task.status, harness.review.status) == (Status.BLOCKED, Status.PENDING)
    assert awaited_task_id(harness.task) == harness.review.id


def test_reclassifying_back_creates_a_new_review(harness: ReviewHarness) -> None:
    """The first review was cancelled in between, so it would never complete."""
    first = harness.review
    harness.reclassify("transient")
    harness.process_changes()
    harness.reclassify("code_error")
    harness.process_changes(times=2)
    [second] = [review for review in harness.reviews if review.id != first.id]
    assert harness.store.tasks[first.id].status is Status.CANCELLED
    assert (harness.task.recovery_action, awaited_task_id(harness.task)) == (
        *("retry_with_spec_refresh", second.id),
    )
    assert harness.task.wait == Wait(WaitReason.SPEC_REVIEW, task_id=second.id)
    assert harness.take_dispatched_ids()[-1] == second.id
    harness.complete(second)
    harness.process_changes()
    assert harness.task.status is Status.PENDING


def test_reclassifying_back_at_once_creates_a_new_review(
    harness: ReviewHarness,
) -> None:
    """A late sync cancels the first review and keeps the second one."""
    first = harness.review
    harness.reclassify("transient")
    harness.reclassify("code_error")
    harness.process_changes()
    states = {review.id: review.status for review in harness.reviews}
    assert states.pop(first.id) is Status.CANCELLED
    assert states == {awaited_task_id(harness.task): Status.PENDING}


def test_a_new_review_can_be_requested_after_one_without_a_result(
    harness: ReviewHarness,
) -> None:
    for category in ("test_failure", "code_error", "test_failure"):
        harness.cancel(harness.reviews[-1])
        harness.process_changes()
        assert harness.task.recovery_action == "escalate_to_human"
        harness.reclassify(category)
        harness.process_changes()
    assert len(harness.reviews) == 4
    assert harness.reviews[-1].status is Status.PENDING
    assert awaited_task_id(harness.task) == harness.reviews[-1].id


def test_an_expired_task_can_be_reviewed_after_reclassification(harness: ReviewHarness) -> None:
    harness.sweep(after=DAY)
    harness.process_changes()
    assert (harness.task.status, harness.review.status) == (Status.FAILED, Status.CANCELLED)
    harness.reclassify("test_failure")
    harness.process_changes()
    assert harness.task.status is Status.BLOCKED
    assert awaited_task_id(harness.task) == harness.reviews[-1].id
    assert harness.reviews[-1].status is Status.PENDING


def test_reclassifying_an_escalated_task_replaces_its_last_guidance(harness: ReviewHarness) -> None:
    first = harness.task.guidance
    harness.cancel(harness.review)
    harness.process_changes()
    harness.reclassify("transient")
    assert harness.task.guidance[:-1] == first[:-1]


# Races


def test_a_write_conflict_is_retried(harness: ReviewHarness) -> None:
    harness.complete(harness.review)

    def cancel() -> None:
        harness.store.tasks[ID] = user_actions.cancel(harness.task, at=harness.clock.at)

    harness.store.concurrent_writes = [cancel]
    harness.process_changes()
    assert harness.task.status is Status.CANCELLED


def test_repeated_write_conflicts_raise(harness: ReviewHarness) -> None:
    before, completed = harness.review, harness.complete(harness.review)

    def touch() -> None:
        task = harness.task
        harness.store.tasks[ID] = replace(task, version=task.version + 1)

    harness.store.concurrent_writes = [touch] * 3
    with pytest.raises(StaleTaskError):
        sync_waiting_task(before, completed, harness.sync_deps)


@pytest.mark.parametrize("status", list(Status))
def test_other_tasks_cause_no_reads(status: Status) -> None:
    harness = ReviewHarness()
    harness.store.tasks.clear()
    sync_waiting_task(a_task(), a_task(status=status), harness.sync_deps)
    sync_waiting_task(a_task(), None, harness.sync_deps)
    assert harness.take_dispatched_ids() == []
