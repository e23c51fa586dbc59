"""Finding an open task that duplicates a new one."""

from __future__ import annotations

from typing import Any

import pytest
from duecourse.domain.chat.duplicates import find_duplicate
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task

from tests.support.builders.moments import DAY, HOUR, MINUTE, NOW
from tests.support.builders.tasks import a_task

OTHER_ID = "99999999-0000-4000-8000-000000000000"
TASK = a_task(due_at=NOW + DAY, description="pay the rent")


def another_task(**fields: Any) -> Task:
    defaults = {"id": OTHER_ID, "due_at": NOW + DAY, "description": "pay the rent"}
    return a_task(**{**defaults, **fields})


@pytest.mark.parametrize(
    "other",
    [
        another_task(),
        another_task(description="Pay  the rent!"),
        another_task(description="pay the rent."),
        another_task(description="pay the rnt"),
        another_task(due_at=NOW + DAY + 5 * MINUTE),
        another_task(due_at=NOW + DAY - 5 * MINUTE),
        another_task(due_at=NOW - 7 * DAY, repeat="daily"),
        another_task(due_at=NOW - 7 * DAY, repeat="daily", paused=True),
        another_task(status=Status.BLOCKED),
    ],
)
def test_a_nearly_identical_task_is_a_duplicate(other: Task) -> None:
    assert find_duplicate(TASK, [TASK, other]) == other


@pytest.mark.parametrize(
    "other",
    [
        another_task(id=TASK.id),
        another_task(description="pay the milkman"),
        another_task(due_at=NOW + DAY + 6 * MINUTE),
        another_task(due_at=NOW + DAY - 6 * MINUTE),
        another_task(due_at=NOW - 7 * DAY + HOUR, repeat="daily"),
        another_task(type="action"),
        another_task(status=Status.DELIVERED),
    ],
)
def test_a_different_task_is_not_a_duplicate(other: Task) -> None:
    assert find_duplicate(TASK, [other]) is None


def test_the_duplicate_nearest_in_time_is_returned() -> None:
    nearest = another_task(due_at=NOW + DAY + MINUTE)
    farther = another_task(id=OTHER_ID.replace("9", "8"), due_at=NOW + DAY - 4 * MINUTE)
    assert find_duplicate(TASK, [farther, nearest]) == nearest


def test_descriptions_without_letters_are_compared() -> None:
    assert find_duplicate(another_task(id="x", description="📞"), [another_task(description="📞")])
