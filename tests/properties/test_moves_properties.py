"""Whatever moves are tried, a task is where the table says and counts each one made."""

from __future__ import annotations

from duecourse.domain.errors import IllegalTransitionError
from duecourse.domain.tasks.status import TRANSITIONS, Status
from duecourse.domain.tasks.task import Task
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.builders.tasks import a_task

walks = st.lists(st.sampled_from(Status), max_size=30)
DONE = {Status.DELIVERED, Status.COMPLETED, Status.CANCELLED}
calm = settings(deadline=None)


def tried(task: Task, to: Status) -> Task:
    try:
        return task.move_to(to)
    except IllegalTransitionError:
        return task


@calm
@given(start=st.sampled_from(Status), walk=walks)
def test_a_walk_ends_where_the_table_says(start: Status, walk: list[Status]) -> None:
    task, expected = a_task(status=start), start
    for to in walk:
        task = tried(task, to)
        expected = to if to in TRANSITIONS[expected] else expected
    assert task.status is expected


@calm
@given(start=st.sampled_from(Status), walk=walks)
def test_each_move_raises_the_version_by_one_and_a_refused_one_does_not(
    start: Status, walk: list[Status]
) -> None:
    task = a_task(status=start, version=7)
    moves = 0
    for to in walk:
        moves += to in TRANSITIONS[task.status]
        task = tried(task, to)
    assert task.version == 7 + moves


@calm
@given(start=st.sampled_from(sorted(DONE)), walk=walks)
def test_what_is_done_stays_done(start: Status, walk: list[Status]) -> None:
    task = a_task(status=start)
    for to in walk:
        task = tried(task, to)
    assert task == a_task(status=start)
