"""The kinds of values that shapes are made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from duecourse.domain.validation.fields import Schema, object_schema, or_null

TEXT: Schema = {"type": "string"}
COUNT: Schema = {"type": "integer", "minimum": 0}
WHOLE: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
YES_OR_NO: Schema = {"type": "boolean"}
INSTANT: Schema = {"type": "string", "format": "date-time"}
DAY: Schema = {"type": "string", "format": "date"}
UUID: Schema = {"type": "string", "format": "uuid"}
ANY_OBJECT: Schema = {"type": "object"}
MAYBE_TEXT, MAYBE_COUNT = or_null(TEXT), or_null(COUNT)
MAYBE_NUMBER, MAYBE_INSTANT = or_null(NUMBER), or_null(INSTANT)


def one(name: str) -> Schema:
    """That of a value which is described once, under that name."""
    return {"$ref": f"#/components/schemas/{name}"}


def enum(values: Iterable[str]) -> Schema:
    return {"type": "string", "enum": [str(value) for value in values]}


def list_of(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def closed(**fields: Schema) -> dict[str, Any]:
    return object_schema(fields, required=fields)


def about(schema: Schema, text: str) -> Schema:
    return {**schema, "description": text}


def several(name: str) -> Schema:
    return closed(items=list_of(one(name)))


def page(name: str) -> Schema:
    """`next_cursor` asks for the next page; null after the last."""
    return closed(items=list_of(one(name)), next_cursor={"type": ["string", "null"]})
