"""DynamoDB's sizing rules: the size of an item, and the billed units of reads and writes.

Values are in DynamoDB's JSON ({"S": "text"}). No emulator computes the indexes' share correctly, so
it is computed here from the item before and after the write.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import ceil
from typing import Any

Item = Mapping[str, Mapping[str, Any]]
WRITE_UNIT = 1024
READ_UNIT = 4096
EVENTUAL_READ_FACTOR = 0.5
TRANSACTION_FACTOR = 2
_CONTAINER_BYTES = 3
_ELEMENT_BYTES = 1


def value_size(value: Mapping[str, Any]) -> int:
    [(kind, content)] = value.items()
    match kind:
        case "S":
            return len(content.encode())
        case "N":
            return _number_size(content)
        case "B":
            return len(content if isinstance(content, bytes) else base64.b64decode(content))
        case "BOOL" | "NULL":
            return 1
        case "L":
            return _CONTAINER_BYTES + sum(value_size(part) + _ELEMENT_BYTES for part in content)
        case "M":
            return _CONTAINER_BYTES + item_size(content) + _ELEMENT_BYTES * len(content)
        case "SS" | "NS" | "BS":
            return sum(value_size({kind[0]: part}) for part in content)
    raise ValueError(f"unknown DynamoDB type {kind}")


def item_size(item: Item) -> int:
    return sum(len(name.encode()) + value_size(value) for name, value in item.items())


def write_units(size: int) -> int:
    return max(1, ceil(size / WRITE_UNIT))


def read_units(size: int, *, is_consistent: bool) -> float:
    """Return the read units. A missing item costs as much as a small one."""
    return max(1, ceil(size / READ_UNIT)) * (1 if is_consistent else EVENTUAL_READ_FACTOR)


def page_units(items: Iterable[Item], *, is_consistent: bool) -> float:
    """Return the units of a query's page, which is rounded up once and not per item."""
    return read_units(sum(map(item_size, items)), is_consistent=is_consistent)


@dataclass(frozen=True)
class Index:
    """`key` is the index's own key; `projected` all attributes of an entry, None for all."""

    name: str
    key: tuple[str, ...]
    projected: frozenset[str] | None

    def entry(self, item: Item | None) -> Item | None:
        if item is None or any(name not in item for name in self.key):
            return None
        if self.projected is None:
            return item
        return {name: value for name, value in item.items() if name in self.projected}

    def units(self, old: Item | None, new: Item | None) -> int:
        """Return the write units.

        A changed key costs a delete and a put; an unchanged entry nothing.
        """
        before, after = self.entry(old), self.entry(new)
        if before == after:
            return 0
        if before is None or after is None or self._key_of(before) != self._key_of(after):
            return sum(write_units(item_size(entry)) for entry in (before, after) if entry)
        return write_units(max(item_size(before), item_size(after)))

    def _key_of(self, entry: Item) -> list[Any]:
        return [entry[name] for name in self.key]


@dataclass(frozen=True)
class Table:
    key: tuple[str, ...]
    indexes: tuple[Index, ...] = ()

    def key_of(self, item: Item) -> dict[str, Any]:
        return {name: item[name] for name in self.key}

    def units(self, old: Item | None, new: Item | None, *, is_transaction: bool = False) -> int:
        """Return the write units: the larger of the item before and after, plus the indexes.

        A rejected write costs as much as the existing item. A transaction doubles the units of the
        table only: DynamoDB updates the indexes afterwards, with ordinary writes.
        """
        size = max(item_size(old or {}), item_size(new or {}))
        factor = TRANSACTION_FACTOR if is_transaction else 1
        return factor * write_units(size) + sum(self.index_units(old, new).values())

    def index_named(self, name: str) -> Index:
        return next(index for index in self.indexes if index.name == name)

    def index_units(self, old: Item | None, new: Item | None) -> dict[str, int]:
        """Return the write units of the indexes that the write changes, by name."""
        found = {index.name: index.units(old, new) for index in self.indexes}
        return {name: units for name, units in found.items() if units}


def table_from_template(properties: Mapping[str, Any]) -> Table:
    key = _parse_key(properties)
    indexes = properties.get("GlobalSecondaryIndexes", ())
    return Table(key, tuple(_parse_index(index, key) for index in indexes))


def _parse_index(properties: Mapping[str, Any], table_key: tuple[str, ...]) -> Index:
    key, projection = _parse_key(properties), properties["Projection"]
    if projection["ProjectionType"] == "ALL":
        return Index(properties["IndexName"], key, None)
    projected = {*key, *table_key, *projection.get("NonKeyAttributes", ())}
    return Index(properties["IndexName"], key, frozenset(projected))


def _parse_key(properties: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(part["AttributeName"] for part in properties["KeySchema"])


def _number_size(text: str) -> int:
    """Return the size: one byte per two significant digits, one more, and one for a minus."""
    number = Decimal(text).normalize().as_tuple()
    return (len(number.digits) + 1) // 2 + 1 + number.sign
