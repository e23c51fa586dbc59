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
from tests.support.review_bench import ReviewHarness

RUNNING = Status.IN_PROGRESS
Step = Callable[[ReviewHarness], object]


def _reviewed(bench: ReviewHarness) -> Task:
    """The latest review, or the task itself."""
    return (bench.reviews or [bench.task])[-1]


def _replayed(bench: ReviewHarness) -> None:
    """A record comes before its turn, and again at its turn."""
    for old, new in bench.store.changes[-2:]:
        sync_waiting_task(old, new, bench.follower)


STEPS: dict[str, Step] = {
    "fails": lambda bench: bench.fail(bench.task),
    "fails otherwise": lambda bench: bench.fail(bench.task, BOOM),
    "is done": lambda bench: bench.complete(bench.task),
    "its review begins": lambda bench: bench.claim(_reviewed(bench)),
    "its review fails": lambda bench: bench.fail(_reviewed(bench)),
    "its review is done": lambda bench: bench.complete(_reviewed(bench)),
    "its review is cancelled": lambda bench: bench.cancel(_reviewed(bench)),
    "its review is retried": lambda bench: bench.wish(_reviewed(bench), user_actions.retry),
    "is retried": lambda bench: bench.wish(bench.task, user_actions.retry),
    "is unblocked": lambda bench: bench.wish(bench.task, user_actions.unblock),
    "is cancelled": lambda bench: bench.cancel(bench.task),
    "was a code error": lambda bench: bench.reclassify("code_error"),
    "was transient": lambda bench: bench.reclassify("transient"),
    "was a timeout": lambda bench: bench.reclassify("timeout"),
    "is followed": lambda bench: bench.follow(),
    "is followed twice": lambda bench: bench.follow(times=2),
    "is replayed": _replayed,
    "an hour passes": lambda bench: bench.sweep(after=HOUR),
    "a day passes": lambda bench: bench.sweep(after=DAY),
}
walks = st.lists(st.sampled_from(sorted(STEPS)), max_size=25)
calm = settings(deadline=None, max_examples=100)


def walked(steps: list[str]) -> ReviewHarness:
    """From the third code error on. What is refused, or is no move, changes nothing."""
    bench = ReviewHarness()
    bench.blocked_for_review()
    for step in steps:
        try:
            STEPS[step](bench)
        except DuecourseError:
            continue
    return bench


def finished(bench: ReviewHarness) -> ReviewHarness:
    """All that happened is followed, whoever still runs comes to an end, and days pass."""
    for _ in range(10):
        bench.follow()
        running = [t for t in bench.store.tasks.values() if t.status is Status.IN_PROGRESS]
        for task in running:
            bench.fail(task)
        bench.sweep(after=DAY)
    bench.follow()
    return bench


@calm
@given(steps=walks)
def test_nothing_is_blocked_for_ever(steps: list[str]) -> None:
    bench = finished(walked(steps))
    assert [task for task in bench.store.tasks.values() if can_time_out(task)] == []


@calm
@given(steps=walks)
def test_whatever_ended_or_was_blocked_was_told(steps: list[str]) -> None:
    bench = walked(steps)
    bench.follow()
    kinds = {event.type for event in bench.told if event.task_id == ID}
    if bench.task.status is Status.BLOCKED:
        told = {"task:spec_refresh_requested", "task:escalated", "task:permanently_blocked"}
        assert kinds & told
    if bench.task.status is Status.FAILED:
        assert "task:failed" in kinds


@calm
@given(steps=walks)
def test_once_all_is_followed_a_waiting_review_is_one_that_its_task_waits_for(
    steps: list[str],
) -> None:
    bench = walked(steps)
    bench.follow()
    awaited = awaited_task_id(bench.task)
    assert {waiting_task_id(review) for review in bench.reviews} <= {ID}
    open_ones = {one.id for one in bench.reviews if one.is_open}
    waiting = {one.id for one in bench.reviews if one.is_open and one.status is not RUNNING}
    assert waiting <= {awaited}
    assert awaited is None or awaited in open_ones, "it waits for what is over"


@calm
@given(steps=walks)
def test_to_follow_all_again_changes_nothing(steps: list[str]) -> None:
    bench = walked(steps)
    seen = list(bench.store.changes)
    bench.follow()
    before = dict(bench.store.tasks)
    for old, new in seen:
        sync_waiting_task(old, new, bench.follower)
    assert bench.store.tasks == before
