"""`find` returns only the tasks of the given owner."""

from __future__ import annotations

import pytest
from duecourse.domain.tasks.owner import Owner
from duecourse.ports.tasks import TaskStore

from tests.support.builders.tasks import ID, a_task

SIBLING = f"{ID[:-1]}1"
TASKS = a_task(), a_task(id=SIBLING, sender_id="bob")


@pytest.fixture
def store_with_tasks(store: TaskStore) -> TaskStore:
    for task in TASKS:
        store.create(task)
    return store


@pytest.mark.parametrize(
    ("channel", "sender_id", "expected"),
    [
        ("console", "ada", [ID]),
        ("console", "bob", [SIBLING]),
        ("console", "Ada", []),
        ("slack", "ada", []),
        ("console", "", []),
    ],
)
def test_find_with_an_owner_returns_only_their_tasks(
    store_with_tasks: TaskStore, channel: str, sender_id: str, expected: list[str]
) -> None:
    owner = Owner(channel, sender_id)
    assert [task.id for task in store_with_tasks.find(ID[:8], owner=owner)] == expected


def test_find_without_an_owner_returns_all_tasks(store_with_tasks: TaskStore) -> None:
    assert [task.id for task in store_with_tasks.find(ID[:8])] == [ID, SIBLING]
