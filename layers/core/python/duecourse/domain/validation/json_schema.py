"""A small, safe subset of JSON Schema 2020-12.

Schemas are untrusted, so regular expressions, references and deep nesting are not supported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

from duecourse.domain.validation.fields import DEPTH_LIMIT
from duecourse.domain.validation.json_schema_assertions import ASSERTIONS, require
from duecourse.domain.validation.json_schema_path import (
    Check,
    ErrorMessages,
    Keyword,
    NodeCounter,
    SchemaPath,
    join_path,
)
from duecourse.domain.validation.json_values import is_list, is_object, measure

MAX_SCHEMA_DEPTH = 20
MAX_ERRORS = 20
MAX_CHECK_STEPS = 2_000_000  # takes a few seconds
_ANNOTATIONS = frozenset(
    {"title", "description", "default", "examples", "$schema", "$comment", "format"}
)


@dataclass(frozen=True)
class Schema:
    """A parsed schema, built by `parse_schema`. `node_count` includes the schema itself."""

    checks: Sequence[Check]
    node_count: int = 1

    def find_errors(self, value: Any) -> list[str]:
        """Return up to `MAX_ERRORS` messages about `value`, each starting with a path.

        A value that is too deep or too large to check gives a single error.
        """
        levels, count = measure(value)
        if levels > DEPTH_LIMIT:
            return [f"answer: must not be nested deeper than {DEPTH_LIMIT} levels"]
        if count * self.node_count > MAX_CHECK_STEPS:
            return ["answer: is too large to be checked against this schema"]
        return list(islice(self.iter_errors(value, "answer"), MAX_ERRORS))

    def iter_errors(self, value: Any, path: str) -> ErrorMessages:
        return chain.from_iterable(check(value, path) for check in self.checks)

    def is_valid(self, value: Any) -> bool:
        return next(self.iter_errors(value, ""), None) is None


def parse_schema(raw: Any) -> Schema:
    """Parse a schema. Raises ValueError, naming the path, for anything that is not supported."""
    if not isinstance(raw, Mapping):
        raise ValueError("schema: must be a JSON object")
    counter = NodeCounter()
    return replace(
        _parse_subschema(raw, SchemaPath("schema", 1, {}, counter)), node_count=counter.count
    )


def _parse_subschema(raw: Any, schema_path: SchemaPath) -> Schema:
    schema_path.count_nodes(1)
    if schema_path.depth > MAX_SCHEMA_DEPTH:
        schema_path.fail(f"must not be nested deeper than {MAX_SCHEMA_DEPTH} levels")
    if isinstance(raw, bool):
        return Schema(() if raw else (_reject_any,))
    if not isinstance(raw, Mapping):
        schema_path.fail("must be a JSON object")
    checks = (_parse_keyword(raw[name], schema_path.at_keyword(name, raw), name) for name in raw)
    return Schema(tuple(check for check in checks if check is not None))


def _parse_keyword(raw: Any, schema_path: SchemaPath, name: str) -> Check | None:
    if name in _ANNOTATIONS:
        return None
    if name not in _KEYWORDS:
        schema_path.fail(f"is not supported; supported keywords: {', '.join(_KEYWORDS)}")
    return _KEYWORDS[name](raw, schema_path)


def _reject_any(_: Any, path: str) -> ErrorMessages:
    yield f"{path}: must be absent"


# Applicator keywords: those that contain subschemas.


def _properties(raw: Any, schema_path: SchemaPath) -> Check:
    if not isinstance(raw, Mapping):
        schema_path.fail("must be an object")
    schemas = {
        name: _parse_subschema(part, schema_path.at_child(name)) for name, part in raw.items()
    }

    def check(value: Any, path: str) -> ErrorMessages:
        for name in value if is_object(value) else ():
            if name in schemas:
                yield from schemas[name].iter_errors(value[name], join_path(path, name))

    return check


def _additional_properties(raw: Any, schema_path: SchemaPath) -> Check:
    schema = _parse_subschema(raw, schema_path.at_child())
    declared = schema_path.siblings.get("properties", {})

    def check(value: Any, path: str) -> ErrorMessages:
        for name in value if is_object(value) else ():
            if name not in declared:
                yield from schema.iter_errors(value[name], join_path(path, name))

    return check


def _items(raw: Any, schema_path: SchemaPath) -> Check:
    schema = _parse_subschema(raw, schema_path.at_child())

    def check(value: Any, path: str) -> ErrorMessages:
        for index, item in enumerate(value if is_list(value) else ()):
            yield from schema.iter_errors(item, join_path(path, index))

    return check


def _all_of(raw: Any, schema_path: SchemaPath) -> Check:
    schemas = _parse_list(raw, schema_path)

    def check(value: Any, path: str) -> ErrorMessages:
        return chain.from_iterable(schema.iter_errors(value, path) for schema in schemas)

    return check


def _any_of(raw: Any, schema_path: SchemaPath) -> Check:
    schemas = _parse_list(raw, schema_path)
    return require(
        lambda value: any(schema.is_valid(value) for schema in schemas),
        "match a schema of anyOf",
    )


def _one_of(raw: Any, schema_path: SchemaPath) -> Check:
    schemas = _parse_list(raw, schema_path)
    return require(
        lambda value: sum(schema.is_valid(value) for schema in schemas) == 1,
        "match exactly one schema of oneOf",
    )


def _parse_list(raw: Any, schema_path: SchemaPath) -> list[Schema]:
    return [
        _parse_subschema(part, schema_path.at_child(n))
        for n, part in enumerate(schema_path.require_nonempty_list(raw))
    ]


_KEYWORDS: dict[str, Keyword] = {
    **ASSERTIONS,
    "properties": _properties,
    "additionalProperties": _additional_properties,
    "items": _items,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "allOf": _all_of,
}
