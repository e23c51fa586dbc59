"""DynamoDB's sizing rules: bytes of an item, and the units that reads and writes are billed in.

Values are in DynamoDB's own JSON ({"S": "text"}). No emulator gets the index's share right, so
it is worked out here from what an item was and what it became.
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
    [(kind, held)] = value.items()
    match kind:
        case "S":
            return len(held.encode())
        case "N":
            return _number_size(held)
        case "B":
            return len(base64.b64decode(held))
        case "BOOL" | "NULL":
            return 1
        case "L":
            return _CONTAINER_BYTES + sum(value_size(part) + _ELEMENT_BYTES for part in held)
        case "M":
            return _CONTAINER_BYTES + item_size(held) + _ELEMENT_BYTES * len(held)
        case "SS" | "NS" | "BS":
            return sum(value_size({kind[0]: part}) for part in held)
    raise ValueError(f"{kind} is no type of DynamoDB's")


def item_size(item: Item) -> int:
    return sum(len(name.encode()) + value_size(value) for name, value in item.items())


def write_units(size: int) -> int:
    return max(1, ceil(size / WRITE_UNIT))


def read_units(size: int, *, is_consistent: bool) -> float:
    """What was not there costs as much as something small."""
    return max(1, ceil(size / READ_UNIT)) * (1 if is_consistent else EVENTUAL_READ_FACTOR)


def page_units(items: Iterable[Item], *, is_consistent: bool) -> float:
    """A page of a query is rounded up once, not item by item."""
    return read_units(sum(map(item_size, items)), is_consistent=is_consistent)


@dataclass(frozen=True)
class Index:
    """`key` is the index's own; `projected` is all that an entry holds, None for everything."""

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
        """An entry whose key changes is deleted and put again; one that stays as it is is free."""
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

    def units(self, old: Item | None, new: Item | None) -> int:
        """A write costs the larger of what was and what is. One that was refused changed nothing
        and costs what is there."""
        size = max(item_size(old or {}), item_size(new or {}))
        return write_units(size) + sum(index.units(old, new) for index in self.indexes)


def table_from_template(properties: Mapping[str, Any]) -> Table:
    key = _parse_key(properties)
    indexes = properties.get("GlobalSecondaryIndexes", ())
    return Table(key, tuple(_parse_index(index, key) for index in indexes))


def _parse_index(properties: Mapping[str, Any], table_key: tuple[str, ...]) -> Index:
    key, projection = _parse_key(properties), properties["Projection"]
    if projection["ProjectionType"] == "ALL":
        return Index(properties["IndexName"], key, None)
    held = {*key, *table_key, *projection.get("NonKeyAttributes", ())}
    return Index(properties["IndexName"], key, frozenset(held))


def _parse_key(properties: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(part["AttributeName"] for part in properties["KeySchema"])


def _number_size(text: str) -> int:
    """A byte for two significant digits and one more; a minus takes another."""
    number = Decimal(text).normalize().as_tuple()
    return (len(number.digits) + 1) // 2 + 1 + number.sign
