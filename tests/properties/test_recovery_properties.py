"""Whatever people and providers do, nobody waits for ever, and no review is without its task."""

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
from tests.support.review_harness import ReviewHarness

RUNNING = Status.IN_PROGRESS
Step = Callable[[ReviewHarness], object]


def _reviewed(harness: ReviewHarness) -> Task:
    """The latest review, or the task itself."""
    return (harness.reviews or [harness.task])[-1]


def _replayed(harness: ReviewHarness) -> None:
    """A record comes before its turn, and again at its turn."""
    for old, new in harness.store.changes[-2:]:
        sync_waiting_task(old, new, harness.sync_deps)


STEPS: dict[str, Step] = {
    "fails": lambda harness: harness.fail(harness.task),
    "fails otherwise": lambda harness: harness.fail(harness.task, BOOM),
    "is done": lambda harness: harness.complete(harness.task),
    "its review begins": lambda harness: harness.claim(_reviewed(harness)),
    "its review fails": lambda harness: harness.fail(_reviewed(harness)),
    "its review is done": lambda harness: harness.complete(_reviewed(harness)),
    "its review is cancelled": lambda harness: harness.cancel(_reviewed(harness)),
    "its review is retried": lambda harness: harness.apply_change(
        _reviewed(harness), user_actions.retry
    ),
    "is retried": lambda harness: harness.apply_change(harness.task, user_actions.retry),
    "is unblocked": lambda harness: harness.apply_change(harness.task, user_actions.unblock),
    "is cancelled": lambda harness: harness.cancel(harness.task),
    "was a code error": lambda harness: harness.reclassify("code_error"),
    "was transient": lambda harness: harness.reclassify("transient"),
    "was a timeout": lambda harness: harness.reclassify("timeout"),
    "is followed": lambda harness: harness.process_changes(),
    "is followed twice": lambda harness: harness.process_changes(times=2),
    "is replayed": _replayed,
    "an hour passes": lambda harness: harness.sweep(after=HOUR),
    "a day passes": lambda harness: harness.sweep(after=DAY),
}
walks = st.lists(st.sampled_from(sorted(STEPS)), max_size=25)
calm = settings(deadline=None, max_examples=100)


def walked(steps: list[str]) -> ReviewHarness:
    """From the third code error on. What is refused, or is no move, changes nothing."""
    harness = ReviewHarness()
    harness.block_for_review()
    for step in steps:
        try:
            STEPS[step](harness)
        except DuecourseError:
            continue
    return harness


def finished(harness: ReviewHarness) -> ReviewHarness:
    """All that happened is followed, whoever still runs comes to an end, and days pass."""
    for _ in range(10):
        harness.process_changes()
        running = [t for t in harness.store.tasks.values() if t.status is Status.IN_PROGRESS]
        for task in running:
            harness.fail(task)
        harness.sweep(after=DAY)
    harness.process_changes()
    return harness


@calm
@given(steps=walks)
def test_nothing_is_blocked_for_ever(steps: list[str]) -> None:
    harness = finished(walked(steps))
    assert [task for task in harness.store.tasks.values() if can_time_out(task)] == []


@calm
@given(steps=walks)
def test_whatever_ended_or_was_blocked_was_told(steps: list[str]) -> None:
    harness = walked(steps)
    harness.process_changes()
    kinds = {event.type for event in harness.events if event.task_id == ID}
    if harness.task.status is Status.BLOCKED:
        told = {"task:spec_refresh_requested", "task:escalated", "task:permanently_blocked"}
        assert kinds & told
    if harness.task.status is Status.FAILED:
        assert "task:failed" in kinds


@calm
@given(steps=walks)
def test_once_all_is_followed_a_waiting_review_is_one_that_its_task_waits_for(
    steps: list[str],
) -> None:
    harness = walked(steps)
    harness.process_changes()
    awaited = awaited_task_id(harness.task)
    assert {waiting_task_id(review) for review in harness.reviews} <= {ID}
    open_ones = {one.id for one in harness.reviews if one.is_open}
    waiting = {one.id for one in harness.reviews if one.is_open and one.status is not RUNNING}
    assert waiting <= {awaited}
    assert awaited is None or awaited in open_ones, "it waits for what is over"


@calm
@given(steps=walks)
def test_to_follow_all_again_changes_nothing(steps: list[str]) -> None:
    harness = walked(steps)
    seen = list(harness.store.changes)
    harness.process_changes()
    before = dict(harness.store.tasks)
    for old, new in seen:
        sync_waiting_task(old, new, harness.sync_deps)
    assert harness.store.tasks == before
