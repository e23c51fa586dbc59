"""No task stays blocked for ever, and no review lacks its task, for any sequence of actions."""

from __future__ import annotations

from collections.abc import Callable

from duecourse.domain.errors import DuecourseError
from duecourse.domain.lifecycle import user_actions
from duecourse.domain.lifecycle.awaited_task import awaited_task_id, waiting_task_id
from duecourse.domain.lifecycle.blocked import can_time_out
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.usecases.tasks.sync_waiting_task import sync_waiting_task
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.builders.failures import BOOM
from tests.support.builders.moments import DAY, HOUR
from tests.support.builders.tasks import ID
from tests.support.examples import scale_examples
from tests.support.review_harness import ReviewHarness

RUNNING = Status.IN_PROGRESS
Step = Callable[[ReviewHarness], object]


def latest_review(harness: ReviewHarness) -> Task:
    """Return the latest review, or the task itself."""
    return (harness.reviews or [harness.task])[-1]


def replay_changes(harness: ReviewHarness) -> None:
    """Deliver the last records early; they are delivered again later."""
    for old, new in harness.store.changes[-2:]:
        sync_waiting_task(old, new, harness.sync_deps)


STEPS: dict[str, Step] = {
    "fails": lambda harness: harness.fail(harness.task),
    "fails otherwise": lambda harness: harness.fail(harness.task, BOOM),
    "is done": lambda harness: harness.complete(harness.task),
    "its review begins": lambda harness: harness.claim(latest_review(harness)),
    "its review fails": lambda harness: harness.fail(latest_review(harness)),
    "its review is done": lambda harness: harness.complete(latest_review(harness)),
    "its review is cancelled": lambda harness: harness.cancel(latest_review(harness)),
    "its review is retried": lambda harness: harness.apply_change(
        latest_review(harness), user_actions.retry
    ),
    "is retried": lambda harness: harness.apply_change(harness.task, user_actions.retry),
    "is unblocked": lambda harness: harness.apply_change(harness.task, user_actions.unblock),
    "is cancelled": lambda harness: harness.cancel(harness.task),
    "was a code error": lambda harness: harness.reclassify("code_error"),
    "was transient": lambda harness: harness.reclassify("transient"),
    "was a timeout": lambda harness: harness.reclassify("timeout"),
    "is followed": lambda harness: harness.process_changes(),
    "is followed twice": lambda harness: harness.process_changes(times=2),
    "is replayed": replay_changes,
    "an hour passes": lambda harness: harness.sweep(after=HOUR),
    "a day passes": lambda harness: harness.sweep(after=DAY),
}
step_lists = st.lists(st.sampled_from(sorted(STEPS)), max_size=25)
property_settings = settings(deadline=None, max_examples=scale_examples(100))


def run_steps(steps: list[str]) -> ReviewHarness:
    """Run the steps after the third code error, ignoring those that are refused."""
    harness = ReviewHarness()
    harness.block_for_review()
    for step in steps:
        try:
            STEPS[step](harness)
        except DuecourseError:
            continue
    return harness


def run_to_end(harness: ReviewHarness) -> ReviewHarness:
    """Process all changes, end all runs, and let days pass."""
    for _ in range(10):
        harness.process_changes()
        running = [t for t in harness.store.tasks.values() if t.status is Status.IN_PROGRESS]
        for task in running:
            harness.fail(task)
        harness.sweep(after=DAY)
    harness.process_changes()
    return harness


@property_settings
@given(steps=step_lists)
def test_no_task_stays_blocked_for_ever(steps: list[str]) -> None:
    harness = run_to_end(run_steps(steps))
    assert [task for task in harness.store.tasks.values() if can_time_out(task)] == []


@property_settings
@given(steps=step_lists)
def test_blocking_and_failing_publish_an_event(steps: list[str]) -> None:
    harness = run_steps(steps)
    harness.process_changes()
    event_types = {event.type for event in harness.events if event.task_id == ID}
    if harness.task.status is Status.BLOCKED:
        expected = {"task:spec_refresh_requested", "task:escalated", "task:permanently_blocked"}
        assert event_types & expected
    if harness.task.status is Status.FAILED:
        assert "task:failed" in event_types


@property_settings
@given(steps=step_lists)
def test_after_syncing_a_pending_review_is_awaited_by_its_task(
    steps: list[str],
) -> None:
    harness = run_steps(steps)
    harness.process_changes()
    awaited = awaited_task_id(harness.task)
    assert {waiting_task_id(review) for review in harness.reviews} <= {ID}
    open_reviews = {review.id for review in harness.reviews if review.is_open}
    pending_reviews = {
        review.id for review in harness.reviews if review.is_open and review.status is not RUNNING
    }
    assert pending_reviews <= {awaited}
    assert awaited is None or awaited in open_reviews, "the task waits for a closed review"


@property_settings
@given(steps=step_lists)
def test_processing_changes_again_changes_nothing(steps: list[str]) -> None:
    harness = run_steps(steps)
    changes = list(harness.store.changes)
    harness.process_changes()
    before = dict(harness.store.tasks)
    for old, new in changes:
        sync_waiting_task(old, new, harness.sync_deps)
    assert harness.store.tasks == before
