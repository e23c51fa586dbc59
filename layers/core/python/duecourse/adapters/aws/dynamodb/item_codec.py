"""Encode and decode items by a model's attributes, without building the model.

PynamoDB sets and reads each attribute through descriptors and checks: four times the CPU time of
the conversions themselves. The model stays the only description of an item.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pynamodb.constants import NULL
from pynamodb.models import Model

Stored = dict[str, dict[str, Any]]


class ItemCodec:
    def __init__(self, model: type[Model]) -> None:
        attributes = model.get_attributes().items()
        self._writers = [
            (name, one.attr_name, one.attr_type, one.serialize) for name, one in attributes
        ]
        self._readers = {
            one.attr_name: (name, one.attr_type, one.deserialize) for name, one in attributes
        }

    def encode(self, values: Mapping[str, Any]) -> Stored:
        """Return what `model(**values).serialize()` returns. Absent values and None are left out.

        Nothing checks that required attributes are among the values.
        """
        stored: Stored = {}
        for name, stored_name, kind, serialize in self._writers:
            value = values.get(name)
            if value is not None and (text := serialize(value)) is not None:
                stored[stored_name] = {kind: text}
        return stored

    def decode(self, stored: Stored) -> tuple[dict[str, Any], Stored]:
        """Return the values by the names of the model, and the attributes that it does not know.

        Raises whatever a broken attribute raises.
        """
        values: dict[str, Any] = {}
        unknown: Stored = {}
        for stored_name, held in stored.items():
            reader = self._readers.get(stored_name)
            if reader is None:
                unknown[stored_name] = held
            elif held and NULL not in held:
                name, kind, deserialize = reader
                values[name] = deserialize(held[kind])
        return values, unknown
