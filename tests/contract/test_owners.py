"""Another's task does not even leave the store."""

from __future__ import annotations

import pytest
from duecourse.adapters.dynamodb.task_store import DynamoTaskStore
from duecourse.domain.owner import Owner

from tests.support.builders.tasks import ID, a_task
from tests.support.fakes.tasks import MemoryStore

SIBLING = f"{ID[:-1]}1"
TASKS = a_task(), a_task(id=SIBLING, sender_id="bob")


@pytest.fixture(params=["dynamodb", "memory"])
def stocked(
    request: pytest.FixtureRequest, store: DynamoTaskStore
) -> DynamoTaskStore | MemoryStore:
    stocked = store if request.param == "dynamodb" else MemoryStore()
    for task in TASKS:
        stocked.create(task)
    return stocked


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
    stocked: DynamoTaskStore | MemoryStore, channel: str, sender_id: str, found: list[str]
) -> None:
    owner = Owner(channel, sender_id)
    assert [task.id for task in stocked.find(ID[:8], owner=owner)] == found


def test_without_an_owner_all_are_found(stocked: DynamoTaskStore | MemoryStore) -> None:
    assert [task.id for task in stocked.find(ID[:8])] == [ID, SIBLING]
