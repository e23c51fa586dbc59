"""Encode and decode items by a model's attributes, without building the model.

PynamoDB sets and reads each attribute through descriptors and checks: four times the CPU time of
the conversions themselves. The model stays the only description of an item.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from pynamodb.attributes import Attribute, JSONAttribute, NumberAttribute
from pynamodb.constants import NULL
from pynamodb.models import Model

Stored = dict[str, dict[str, Any]]
# PynamoDB builds a decoder for each value.
_decode_json = json.JSONDecoder(strict=False).decode


class ItemCodec:
    def __init__(self, model: type[Model]) -> None:
        attributes = model.get_attributes().items()
        self._writers = [
            (name, one.attr_name, one.attr_type, _serializer_of(one)) for name, one in attributes
        ]
        self._readers = {
            one.attr_name: (name, one.attr_type, _deserializer_of(one)) for name, one in attributes
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


def _serializer_of(attribute: Attribute[Any]) -> Callable[[Any], Any]:
    return _write_number if type(attribute) is NumberAttribute else attribute.serialize


def _deserializer_of(attribute: Attribute[Any]) -> Callable[[Any], Any]:
    if type(attribute) is NumberAttribute:
        return _read_number
    return _decode_json if type(attribute) is JSONAttribute else attribute.deserialize


def _write_number(value: Any) -> str:
    return str(value) if type(value) is int else json.dumps(value)


def _read_number(text: str) -> Any:
    return int(text) if text.isdecimal() else json.loads(text)
