"""A task follows the transition table, for any sequence of attempted transitions."""

from __future__ import annotations

from duecourse.domain.errors import IllegalTransitionError
from duecourse.domain.tasks.status import TRANSITIONS, Status
from duecourse.domain.tasks.task import Task
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.builders.tasks import a_task

status_lists = st.lists(st.sampled_from(Status), max_size=30)
FINAL = {Status.DELIVERED, Status.COMPLETED, Status.CANCELLED}
property_settings = settings(deadline=None)


def try_move(task: Task, to: Status) -> Task:
    try:
        return task.move_to(to)
    except IllegalTransitionError:
        return task


@property_settings
@given(start=st.sampled_from(Status), statuses=status_lists)
def test_a_task_ends_in_the_status_of_the_transition_table(
    start: Status, statuses: list[Status]
) -> None:
    task, expected = a_task(status=start), start
    for to in statuses:
        task = try_move(task, to)
        expected = to if to in TRANSITIONS[expected] else expected
    assert task.status is expected


@property_settings
@given(start=st.sampled_from(Status), statuses=status_lists)
def test_only_a_legal_transition_increments_the_version(
    start: Status, statuses: list[Status]
) -> None:
    task = a_task(status=start, version=7)
    legal_moves = 0
    for to in statuses:
        legal_moves += to in TRANSITIONS[task.status]
        task = try_move(task, to)
    assert task.version == 7 + legal_moves


@property_settings
@given(start=st.sampled_from(sorted(FINAL)), statuses=status_lists)
def test_a_final_status_never_changes(start: Status, statuses: list[Status]) -> None:
    task = a_task(status=start)
    for to in statuses:
        task = try_move(task, to)
    assert task == a_task(status=start)
