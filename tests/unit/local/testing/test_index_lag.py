"""An index that lags shows items as they were, each until its own time."""

from __future__ import annotations

from typing import Any

import pytest

from local.testing.lean_aws.dynamodb import DynamoDb
from local.testing.lean_aws.index_lag import IndexLag
from local.testing.lean_aws.table import Table

KEYS = ("id", "due")
REQUEST: dict[str, Any] = {
    "TableName": "t",
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": one, "AttributeType": "S"} for one in KEYS],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "i",
            "KeySchema": [{"AttributeName": "due", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }
    ],
}


class World:
    """`delays`: of the next writes, in seconds; the others are shown at once."""

    def __init__(self) -> None:
        self.now = 0.0
        self.delays: list[float] = []
        self.dynamodb = DynamoDb(region="r", account="a", now=lambda: self.now)
        self.dynamodb.create_table(REQUEST)
        self.table: Table = self.dynamodb.table("t")
        self.table.index_lag = IndexLag(
            lambda: self.now, lambda _index: self.delays.pop(0) if self.delays else 0.0
        )

    def put(self, due: str) -> None:
        item = {"id": {"S": "1"}, "due": {"S": due}}
        self.dynamodb.operations["PutItem"]({"TableName": "t", "Item": item})

    def delete(self) -> None:
        self.dynamodb.operations["DeleteItem"]({"TableName": "t", "Key": {"id": {"S": "1"}}})

    def list_due(self) -> list[str]:
        reply = self.dynamodb.operations["Scan"]({"TableName": "t", "IndexName": "i"})
        return [item["due"]["S"] for item in reply["Items"]]


@pytest.fixture
def world() -> World:
    return World()


def test_without_lag_every_write_is_shown(world: World) -> None:
    world.put("a")
    assert world.list_due() == ["a"]
    world.delete()
    assert world.list_due() == []


def test_a_new_item_is_shown_later(world: World) -> None:
    world.delays = [10]
    world.put("a")
    assert world.list_due() == []
    world.now = 10
    assert world.list_due() == ["a"]


def test_an_item_is_shown_as_it_was(world: World) -> None:
    world.put("a")
    world.delays = [10]
    world.put("b")
    world.put("c")
    assert world.list_due() == ["a"]
    world.now = 10
    assert world.list_due() == ["c"]


def test_a_deleted_item_is_still_shown(world: World) -> None:
    world.put("a")
    world.delays = [10]
    world.delete()
    assert world.list_due() == ["a"]
    world.now = 10
    assert world.list_due() == []


def test_a_write_after_the_lag_may_lag_again(world: World) -> None:
    world.delays = [10, 10]
    world.put("a")
    world.now = 15
    world.put("b")
    assert world.list_due() == ["a"]
    world.now = 25
    assert world.list_due() == ["b"]
