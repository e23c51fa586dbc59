"""Keys of tables and indexes, and the ordered entries of one of them."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from local.testing.lean_aws.errors import validation_error
from local.testing.lean_aws.values import AttributeValue, Item, to_comparable, type_of

Key = tuple[Any, ...]  # the comparable values of a table's key attributes
Entry = tuple[Any, Key]  # the sort key, then the table's key, so that the order is total


@dataclass(frozen=True)
class KeySchema:
    hash_name: str
    range_name: str | None
    types: dict[str, str]

    @classmethod
    def from_request(
        cls, schema: list[dict[str, str]], definitions: list[dict[str, str]]
    ) -> KeySchema:
        types = {one["AttributeName"]: one["AttributeType"] for one in definitions}
        names = {one["KeyType"]: one["AttributeName"] for one in schema}
        used = {name: types[name] for name in names.values()}
        return cls(names["HASH"], names.get("RANGE"), used)

    @property
    def names(self) -> list[str]:
        return [self.hash_name] + ([self.range_name] if self.range_name else [])

    def key_of(self, attributes: Item) -> Key:
        """Return the key. Raises ValidationException if an attribute is missing or mistyped."""
        return tuple(self._comparable(name, attributes.get(name)) for name in self.names)

    def check_exact(self, key: Item) -> Key:
        if len(key) != len(self.names):
            raise validation_error("The provided key element does not match the schema")
        return self.key_of(key)

    def is_indexed(self, item: Item) -> bool:
        """Return whether the item has every key attribute: an index is sparse."""
        return all(name in item for name in self.names)

    def _comparable(self, name: str, value: AttributeValue | None) -> Any:
        if value is None or type_of(value) != self.types[name]:
            raise validation_error(
                f"One or more parameter values were invalid: the key {name} is missing"
                f" or has a type other than {self.types[name]}"
            )
        if value == {"S": ""}:
            raise validation_error(
                "One or more parameter values are not valid. The AttributeValue for a key"
                f" attribute cannot contain an empty string value. Key: {name}"
            )
        return to_comparable(value)


@dataclass
class SortedEntries:
    """The entries of a table or an index, by partition and in the order of the sort key."""

    schema: KeySchema
    _partitions: dict[Any, list[Entry]] = field(default_factory=dict)

    def partition(self, hash_value: Any) -> list[Entry]:
        return self._partitions.get(hash_value, [])

    def all_entries(self) -> Iterator[tuple[Any, Entry]]:
        for hash_value in sorted(self._partitions):
            for entry in self._partitions[hash_value]:
                yield hash_value, entry

    def add(self, item: Item, key: Key) -> None:
        hash_value, entry = self.entry_of(item, key)
        insort(self._partitions.setdefault(hash_value, []), entry)

    def remove(self, item: Item, key: Key) -> None:
        hash_value, entry = self.entry_of(item, key)
        entries = self._partitions[hash_value]
        del entries[bisect_left(entries, entry)]
        if not entries:
            del self._partitions[hash_value]

    def entry_of(self, item: Item, key: Key) -> tuple[Any, Entry]:
        hash_value, *rest = self.schema.key_of(item)
        return hash_value, (rest[0] if rest else None, key)
