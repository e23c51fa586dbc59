"""A table: its items, its indexes and its stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from local.testing.lean_aws.errors import UnsupportedError, validation_error
from local.testing.lean_aws.index_lag import IndexLag
from local.testing.lean_aws.indexes import Index
from local.testing.lean_aws.key_schema import Key, KeySchema, SortedEntries
from local.testing.lean_aws.stream import Stream
from local.testing.lean_aws.values import Item, measure_item

MAX_ITEM_BYTES = 400 * 1024
_SUPPORTED = frozenset(
    {"TableName", "KeySchema", "AttributeDefinitions", "BillingMode"}
    | {"GlobalSecondaryIndexes", "StreamSpecification"}
)


class Table:
    """`index_lag`, if set, lets the indexes show writes later.

    `rewrite`, if set, returns what is stored, for the old and the new item of a write.
    `on_write`, if set, gets the old and the new item after every write.
    """

    index_lag: IndexLag | None = None
    rewrite: Callable[[Item | None, Item], Item] | None = None
    on_write: Callable[[Item | None, Item | None], None] | None = None

    def __init__(self, request: dict[str, Any], arn: str, stream: Stream | None) -> None:
        if unknown := request.keys() - _SUPPORTED:
            raise UnsupportedError(f"CreateTable with {', '.join(sorted(unknown))}")
        self.name: str = request["TableName"]
        self.arn = arn
        self.stream = stream
        definitions = request["AttributeDefinitions"]
        self.schema = KeySchema.from_request(request["KeySchema"], definitions)
        self.entries = SortedEntries(self.schema)
        self.indexes = {
            one["IndexName"]: self._make_index(one, definitions)
            for one in request.get("GlobalSecondaryIndexes") or ()
        }
        self.items: dict[Key, Item] = {}
        self.sizes: dict[Key, int] = {}

    def get(self, key: Key) -> Item | None:
        return self.items.get(key)

    def key_attributes(self, item: Item) -> Item:
        return {name: item[name] for name in self.schema.names}

    def index(self, name: str) -> Index:
        if name not in self.indexes:
            raise validation_error(f"The table does not have the specified index: {name}")
        index = self.indexes[name]
        if self.index_lag is not None and index.outdated:
            self.index_lag.catch_up(index, self.items)
        return index

    def check(self, item: Item) -> Callable[[], None]:
        """Return a function that stores the item. Raises ValidationException if it is invalid."""
        key = self.schema.key_of(item)
        size = measure_item(item)
        if size > MAX_ITEM_BYTES:
            raise validation_error("Item size has exceeded the maximum allowed size")
        for index in self.indexes.values():
            if index.entries.schema.is_indexed(item):
                index.entries.schema.key_of(item)
        return lambda: self._store(key, item, size)

    def delete(self, key: Key) -> None:
        if (old := self.items.get(key)) is None:
            return
        self._drop(key, old)
        self._change_indexes(key, old, None)
        self._record(old, None)

    def clear(self) -> None:
        """Delete everything, without stream records."""
        for key, item in list(self.items.items()):
            self._drop(key, item)
            self._change_indexes(key, item, None)

    def _store(self, key: Key, item: Item, size: int) -> None:
        old = self.items.get(key)
        if self.rewrite is not None:
            item = self.rewrite(old, item)
        if old == item:
            return  # DynamoDB writes no stream record for a write that changes nothing
        if old is not None:
            self._drop(key, old)
        self.items[key], self.sizes[key] = item, size
        self.entries.add(item, key)
        self._change_indexes(key, old, item)
        self._record(old, item)

    def _drop(self, key: Key, item: Item) -> None:
        del self.items[key], self.sizes[key]
        self.entries.remove(item, key)

    def _change_indexes(self, key: Key, old: Item | None, new: Item | None) -> None:
        for index in self.indexes.values():
            if self.index_lag is None:
                index.change(key, old, new)
            else:
                self.index_lag.change(index, key, old, new)

    def _record(self, old: Item | None, new: Item | None) -> None:
        if self.stream is not None:
            self.stream.add(self.key_attributes(new or old or {}), old, new)
        if self.on_write is not None:
            self.on_write(old, new)

    def _make_index(self, request: dict[str, Any], definitions: list[dict[str, str]]) -> Index:
        schema = KeySchema.from_request(request["KeySchema"], definitions)
        projection = request["Projection"]
        kind = projection["ProjectionType"]
        projected = None
        if kind != "ALL":
            others = projection.get("NonKeyAttributes", ()) if kind == "INCLUDE" else ()
            projected = frozenset({*self.schema.names, *schema.names, *others})
        return Index(request["IndexName"], SortedEntries(schema), projected)
