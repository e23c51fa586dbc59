"""Another's task does not even leave the store."""

from __future__ import annotations

import pytest
from duecourse.domain.tasks.owner import Owner
from duecourse.ports.tasks import TaskStore

from tests.support.builders.tasks import ID, a_task

SIBLING = f"{ID[:-1]}1"
TASKS = a_task(), a_task(id=SIBLING, sender_id="bob")


@pytest.fixture
def stocked(store: TaskStore) -> TaskStore:
    for task in TASKS:
        store.create(task)
    return store


@pytest.mark.parametrize(
    ("channel", "sender_id", "found"),
    [
        ("console", "ada", [ID]),
        ("console", "bob", [SIBLING]),
        ("console", "Ada", []),
        ("slack", "ada", []),
        ("console", "", []),
    ],
)
def test_an_owner_finds_their_own(
    stocked: TaskStore, channel: str, sender_id: str, found: list[str]
) -> None:
    owner = Owner(channel, sender_id)
    assert [task.id for task in stocked.find(ID[:8], owner=owner)] == found


def test_without_an_owner_all_are_found(stocked: TaskStore) -> None:
    assert [task.id for task in stocked.find(ID[:8])] == [ID, SIBLING]
