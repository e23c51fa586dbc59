"""A small, safe subset of JSON Schema 2020-12.

Schemas are untrusted, so regular expressions, references and deep nesting are not supported.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any, NoReturn

from duecourse.domain.validation.fields import DEPTH_LIMIT

MAX_SCHEMA_DEPTH = 20
MAX_NODES = 1_000
MAX_ERRORS = 20
MAX_CHECK_STEPS = 2_000_000  # takes a few seconds
_MAX_NAME_LENGTH = 60
_ANNOTATIONS = frozenset(
    {"title", "description", "default", "examples", "$schema", "$comment", "format"}
)

ErrorMessages = Iterator[str]  # lazy, so that callers can stop early
Check = Callable[[Any, str], ErrorMessages]  # called with a value and its path
Predicate = Callable[[Any], bool]


@dataclass(frozen=True)
class Schema:
    """A parsed schema, built by `parse_schema`. `node_count` includes the schema itself."""

    checks: Sequence[Check]
    node_count: int = 1

    def find_errors(self, value: Any) -> list[str]:
        """Return up to `MAX_ERRORS` messages about `value`, each starting with a path.

        A value that is too deep or too large to check gives a single error.
        """
        levels, count = _measure(value)
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
    tally = _NodeCounter()
    return replace(
        _parse_subschema(raw, _SchemaPath("schema", 1, {}, tally)), node_count=tally.count
    )


@dataclass
class _NodeCounter:
    count: int = 0


@dataclass(frozen=True)
class _SchemaPath:
    """A position in a schema. `siblings` are the keywords at the same level."""

    path: str
    depth: int
    siblings: Mapping[str, Any]
    counter: _NodeCounter

    def at_keyword(self, name: str, siblings: Mapping[str, Any]) -> _SchemaPath:
        return replace(self, path=_join_path(self.path, name), siblings=siblings)

    def at_child(self, step: str | int | None = None) -> _SchemaPath:
        path = self.path if step is None else _join_path(self.path, step)
        return replace(self, path=path, depth=self.depth + 1)

    def fail(self, message: str) -> NoReturn:
        raise ValueError(f"{self.path}: {message}")

    def count_nodes(self, parts: int) -> None:
        self.counter.count += parts
        if self.counter.count > MAX_NODES:
            self.fail(f"the schema has more than {MAX_NODES:,} parts")


def _parse_subschema(raw: Any, schema_path: _SchemaPath) -> Schema:
    schema_path.count_nodes(1)
    if schema_path.depth > MAX_SCHEMA_DEPTH:
        schema_path.fail(f"must not be nested deeper than {MAX_SCHEMA_DEPTH} levels")
    if isinstance(raw, bool):
        return Schema(() if raw else (_reject_any,))
    if not isinstance(raw, Mapping):
        schema_path.fail("must be a JSON object")
    read = (_parse_keyword(raw[name], schema_path.at_keyword(name, raw), name) for name in raw)
    return Schema(tuple(check for check in read if check is not None))


def _parse_keyword(raw: Any, schema_path: _SchemaPath, name: str) -> Check | None:
    if name in _ANNOTATIONS:
        return None
    if name not in _KEYWORDS:
        schema_path.fail(f"is not understood here; what is: {', '.join(_KEYWORDS)}")
    return _KEYWORDS[name](raw, schema_path)


def _reject_any(_: Any, path: str) -> ErrorMessages:
    yield f"{path}: must not be there"


# Types of values. True is not a number, and 1.0 is an integer.


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_integer(value: Any) -> bool:
    return _is_number(value) and (isinstance(value, int) or value.is_integer())


def _is_string(value: Any) -> bool:
    return isinstance(value, str)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


_TYPES: dict[str, tuple[Predicate, str]] = {
    "array": (_is_list, "a list"),
    "boolean": (lambda value: isinstance(value, bool), "true or false"),
    "integer": (_is_integer, "a whole number"),
    "null": (lambda value: value is None, "null"),
    "number": (_is_number, "a number"),
    "object": (_is_object, "an object"),
    "string": (_is_string, "a text"),
}


# Keywords that constrain the value itself


def _require(
    predicate: Predicate, sentence: str, *, applies_to: Predicate = lambda _: True
) -> Check:
    def check(value: Any, path: str) -> ErrorMessages:
        if applies_to(value) and not predicate(value):
            yield f"{path}: must {sentence}"

    return check


def _type(raw: Any, schema_path: _SchemaPath) -> Check:
    names = raw if isinstance(raw, list) else [raw]
    if not names or not all(isinstance(name, str) and name in _TYPES for name in names):
        schema_path.fail(f"must be one or more of: {', '.join(_TYPES)}")
    tests = [_TYPES[name][0] for name in names]
    wanted = " or ".join(_TYPES[name][1] for name in names)
    return _require(lambda value: any(test(value) for test in tests), f"be {wanted}")


def _enum(raw: Any, schema_path: _SchemaPath) -> Check:
    schema_path.count_nodes(len(_require_nonempty_list(raw, schema_path)))
    return _enum_check(raw, schema_path, "be one of those listed")


def _const(raw: Any, schema_path: _SchemaPath) -> Check:
    return _enum_check([raw], schema_path, "be the one value that is allowed")


def _enum_check(allowed: Sequence[Any], schema_path: _SchemaPath, sentence: str) -> Check:
    if max(_measure(value)[0] for value in allowed) > DEPTH_LIMIT:
        schema_path.fail(f"must not be nested deeper than {DEPTH_LIMIT} levels")
    known = frozenset(map(_json_identity, allowed))
    return _require(lambda value: _json_identity(value) in known, sentence)


def _required(raw: Any, schema_path: _SchemaPath) -> Check:
    if not isinstance(raw, list) or not all(isinstance(name, str) for name in raw):
        schema_path.fail("must be a list of names")
    schema_path.count_nodes(len(raw))

    def check(value: Any, path: str) -> ErrorMessages:
        if _is_object(value):
            yield from (
                f"{_join_path(path, name)}: is required" for name in raw if name not in value
            )

    return check


def _unique_items(raw: Any, schema_path: _SchemaPath) -> Check | None:
    if not isinstance(raw, bool):
        schema_path.fail("must be true or false")
    return _check_unique if raw else None


def _check_unique(value: Any, path: str) -> ErrorMessages:
    seen: set[Hashable] = set()
    for index, item in enumerate(value if _is_list(value) else ()):
        identity = _json_identity(item)
        if identity in seen:
            yield f"{_join_path(path, index)}: must not be there twice"
        seen.add(identity)


Keyword = Callable[[Any, _SchemaPath], Check | None]
Compare = Callable[[Any, Any], bool]


def _length_keyword(applies_to: Predicate, comparison: Compare, sentence: str) -> Keyword:
    def read(raw: Any, place: _SchemaPath) -> Check:
        if not _is_integer(raw) or raw < 0:
            place.fail("must be a whole number from 0")
        return _require(
            lambda value: comparison(len(value), raw),
            sentence.format(int(raw)),
            applies_to=applies_to,
        )

    return read


def _bound_keyword(comparison: Compare, sentence: str) -> Keyword:
    def read(raw: Any, place: _SchemaPath) -> Check:
        if not _is_number(raw) or not (isinstance(raw, int) or math.isfinite(raw)):
            place.fail("must be a number")
        return _require(
            lambda value: comparison(value, raw),
            sentence.format(_format_number(raw)),
            applies_to=_is_number,
        )

    return read


# Keywords that contain subschemas


def _properties(raw: Any, schema_path: _SchemaPath) -> Check:
    if not isinstance(raw, Mapping):
        schema_path.fail("must be an object")
    named = {name: _parse_subschema(part, schema_path.at_child(name)) for name, part in raw.items()}

    def check(value: Any, path: str) -> ErrorMessages:
        for name in value if _is_object(value) else ():
            if name in named:
                yield from named[name].iter_errors(value[name], _join_path(path, name))

    return check


def _additional_properties(raw: Any, schema_path: _SchemaPath) -> Check:
    others = _parse_subschema(raw, schema_path.at_child())
    named = schema_path.siblings.get("properties", {})

    def check(value: Any, path: str) -> ErrorMessages:
        for name in value if _is_object(value) else ():
            if name not in named:
                yield from others.iter_errors(value[name], _join_path(path, name))

    return check


def _items(raw: Any, schema_path: _SchemaPath) -> Check:
    each = _parse_subschema(raw, schema_path.at_child())

    def check(value: Any, path: str) -> ErrorMessages:
        for index, item in enumerate(value if _is_list(value) else ()):
            yield from each.iter_errors(item, _join_path(path, index))

    return check


def _all_of(raw: Any, schema_path: _SchemaPath) -> Check:
    parts = _parse_alternatives(raw, schema_path)
    return lambda value, path: chain.from_iterable(part.iter_errors(value, path) for part in parts)


def _any_of(raw: Any, schema_path: _SchemaPath) -> Check:
    parts = _parse_alternatives(raw, schema_path)
    return _require(
        lambda value: any(part.is_valid(value) for part in parts),
        f"fit one of {len(parts)} alternatives, and fits none",
    )


def _exactly_one_of(raw: Any, schema_path: _SchemaPath) -> Check:
    parts = _parse_alternatives(raw, schema_path)
    return _require(
        lambda value: sum(part.is_valid(value) for part in parts) == 1,
        f"fit exactly one of {len(parts)} alternatives",
    )


def _parse_alternatives(raw: Any, schema_path: _SchemaPath) -> list[Schema]:
    return [
        _parse_subschema(part, schema_path.at_child(n))
        for n, part in enumerate(_require_nonempty_list(raw, schema_path))
    ]


def _require_nonempty_list(raw: Any, schema_path: _SchemaPath) -> list[Any]:
    if not isinstance(raw, list) or not raw:
        schema_path.fail("must be a list that is not empty")
    return raw


_KEYWORDS: dict[str, Keyword] = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "properties": _properties,
    "required": _required,
    "additionalProperties": _additional_properties,
    "items": _items,
    "minItems": _length_keyword(_is_list, operator.ge, "have at least {} items"),
    "maxItems": _length_keyword(_is_list, operator.le, "have at most {} items"),
    "uniqueItems": _unique_items,
    "minLength": _length_keyword(_is_string, operator.ge, "have at least {} characters"),
    "maxLength": _length_keyword(_is_string, operator.le, "have at most {} characters"),
    "minimum": _bound_keyword(operator.ge, "be at least {}"),
    "maximum": _bound_keyword(operator.le, "be at most {}"),
    "exclusiveMinimum": _bound_keyword(operator.gt, "be more than {}"),
    "exclusiveMaximum": _bound_keyword(operator.lt, "be less than {}"),
    "anyOf": _any_of,
    "oneOf": _exactly_one_of,
    "allOf": _all_of,
}


# Values


def _measure(value: Any) -> tuple[int, int]:
    """Return the nesting depth and the number of values. It does not recurse, to avoid overflow."""
    levels, count, level = 0, 1, [value]
    while level := [part for part in level if isinstance(part, dict | list)]:
        levels += 1
        level = list(
            chain.from_iterable(
                parent.values() if isinstance(parent, dict) else parent for parent in level
            )
        )
        count += len(level)
    return levels, count


def _json_identity(value: Any) -> Hashable:
    """Return a key that is equal for equal JSON values: 1 equals 1.0, but not true."""
    match value:
        case bool():
            return (bool, value)
        case list():
            return (list, tuple(map(_json_identity, value)))
        case dict():
            return (dict, frozenset((name, _json_identity(part)) for name, part in value.items()))
    return value if isinstance(value, int | float | str) else None


def _join_path(path: str, step: str | int) -> str:
    """Append `step` to `path`.

    Names are untrusted: they are cleaned, so that none can look like an error code or sentence.
    """
    if isinstance(step, int):
        return f"{path}[{step}]"
    shown = (mark if mark.isalnum() or mark in "_-.$@" else "?" for mark in step[:_MAX_NAME_LENGTH])
    return f"{path}.{''.join(shown)}"


def _format_number(number: float) -> str:
    """Format a bound. Huge numbers are not printed, because Python limits their conversion."""
    return f"{number:,}" if abs(number) < 10**18 else "a huge number"
