"""Building blocks for schemas."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from duecourse.domain.tasks.failure_kind import ClearsBy, Kind
from duecourse.domain.validation.fields import Schema, nullable, object_schema

TEXT: Schema = {"type": "string"}
COUNT: Schema = {"type": "integer", "minimum": 0}
INTEGER: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
BOOLEAN: Schema = {"type": "boolean"}
INSTANT: Schema = {"type": "string", "format": "date-time"}
DAY: Schema = {"type": "string", "format": "date"}
UUID: Schema = {"type": "string", "format": "uuid"}
ANY_OBJECT: Schema = {"type": "object"}
NULLABLE_TEXT, NULLABLE_COUNT = nullable(TEXT), nullable(COUNT)
NULLABLE_NUMBER, NULLABLE_INSTANT = nullable(NUMBER), nullable(INSTANT)


def ref(name: str) -> Schema:
    """Return a reference to the schema called `name`."""
    return {"$ref": f"#/components/schemas/{name}"}


def enum(values: Iterable[str]) -> Schema:
    return {"type": "string", "enum": [str(value) for value in values]}


def list_of(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def strict_object(**fields: Schema) -> dict[str, Any]:
    return object_schema(fields, required=fields)


def with_description(schema: Schema, text: str) -> Schema:
    return {**schema, "description": text}


def item_list(name: str) -> Schema:
    return strict_object(items=list_of(ref(name)))


def item_page(name: str) -> Schema:
    """Return the schema of a page. `next_cursor` requests the next page; null after the last."""
    return strict_object(items=list_of(ref(name)), next_cursor={"type": ["string", "null"]})


KIND = with_description(
    nullable(enum(Kind)), "The kind of the failure; null if it was stored without one."
)
CLEARS_BY = with_description(
    nullable(enum(ClearsBy)), "What makes such a failure go away; null if that is unknown."
)
LIKELY = with_description(
    nullable(strict_object(category=TEXT, kind=enum(Kind))),
    "What it probably is, if no category was certain enough.",
)
