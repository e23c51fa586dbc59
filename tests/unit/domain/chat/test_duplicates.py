"""What somebody has asked for before is found, and nothing else."""

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


def another(**fields: Any) -> Task:
    defaults = {"id": OTHER_ID, "due_at": NOW + DAY, "description": "pay the rent"}
    return a_task(**{**defaults, **fields})


@pytest.mark.parametrize(
    "other",
    [
        another(),
        another(description="Pay  the rent!"),
        another(description="pay the rent."),
        another(description="pay the rnt"),
        another(due_at=NOW + DAY + 5 * MINUTE),
        another(due_at=NOW + DAY - 5 * MINUTE),
        another(due_at=NOW - 7 * DAY, repeat="daily"),
        another(due_at=NOW - 7 * DAY, repeat="daily", paused=True),
        another(status=Status.BLOCKED),
    ],
)
def test_nearly_the_same_is_pointed_out(other: Task) -> None:
    assert find_duplicate(TASK, [TASK, other]) == other


@pytest.mark.parametrize(
    "other",
    [
        another(id=TASK.id),
        another(description="pay the milkman"),
        another(due_at=NOW + DAY + 6 * MINUTE),
        another(due_at=NOW + DAY - 6 * MINUTE),
        another(due_at=NOW - 7 * DAY + HOUR, repeat="daily"),
        another(type="action"),
        another(status=Status.DELIVERED),
    ],
)
def test_what_differs_is_not(other: Task) -> None:
    assert find_duplicate(TASK, [other]) is None


def test_of_several_the_nearest_is_named() -> None:
    near = another(due_at=NOW + DAY + MINUTE)
    far = another(id=OTHER_ID.replace("9", "8"), due_at=NOW + DAY - 4 * MINUTE)
    assert find_duplicate(TASK, [far, near]) == near


def test_words_without_letters_are_compared_as_well() -> None:
    assert find_duplicate(another(id="x", description="📞"), [another(description="📞")])
