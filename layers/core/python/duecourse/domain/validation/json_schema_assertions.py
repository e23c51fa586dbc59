"""The assertion keywords of JSON Schema: those that constrain a value itself."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from duecourse.domain.validation.fields import DEPTH_LIMIT
from duecourse.domain.validation.json_schema_path import (
    Check,
    ErrorMessages,
    Keyword,
    SchemaPath,
    join_path,
)
from duecourse.domain.validation.json_values import (
    JSON_TYPES,
    Predicate,
    is_integer,
    is_list,
    is_number,
    is_object,
    is_string,
    json_identity,
    measure,
)

Compare = Callable[[Any, Any], bool]


def require(
    predicate: Predicate, sentence: str, *, applies_to: Predicate = lambda _: True
) -> Check:
    """Return a check that fails with "must {sentence}" unless `predicate` holds."""

    def check(value: Any, path: str) -> ErrorMessages:
        if applies_to(value) and not predicate(value):
            yield f"{path}: must {sentence}"

    return check


def _type(raw: Any, schema_path: SchemaPath) -> Check:
    names = raw if isinstance(raw, list) else [raw]
    if not names or not all(isinstance(name, str) and name in JSON_TYPES for name in names):
        schema_path.fail(f"must be one or more of: {', '.join(JSON_TYPES)}")
    predicates = [JSON_TYPES[name][0] for name in names]
    expected = " or ".join(JSON_TYPES[name][1] for name in names)
    return require(
        lambda value: any(predicate(value) for predicate in predicates), f"be {expected}"
    )


def _enum(raw: Any, schema_path: SchemaPath) -> Check:
    schema_path.count_nodes(len(schema_path.require_nonempty_list(raw)))
    return _enum_check(raw, schema_path, "be a value of enum")


def _const(raw: Any, schema_path: SchemaPath) -> Check:
    return _enum_check([raw], schema_path, "equal the value of const")


def _enum_check(allowed: Sequence[Any], schema_path: SchemaPath, sentence: str) -> Check:
    if max(measure(value)[0] for value in allowed) > DEPTH_LIMIT:
        schema_path.fail(f"must not be nested deeper than {DEPTH_LIMIT} levels")
    identities = frozenset(map(json_identity, allowed))
    return require(lambda value: json_identity(value) in identities, sentence)


def _required(raw: Any, schema_path: SchemaPath) -> Check:
    if not isinstance(raw, list) or not all(isinstance(name, str) for name in raw):
        schema_path.fail("must be a list of names")
    schema_path.count_nodes(len(raw))

    def check(value: Any, path: str) -> ErrorMessages:
        if is_object(value):
            yield from (
                f"{join_path(path, name)}: is required" for name in raw if name not in value
            )

    return check


def _unique_items(raw: Any, schema_path: SchemaPath) -> Check | None:
    if not isinstance(raw, bool):
        schema_path.fail("must be true or false")
    return _check_unique if raw else None


def _check_unique(value: Any, path: str) -> ErrorMessages:
    seen: set[Hashable] = set()
    for index, item in enumerate(value if is_list(value) else ()):
        identity = json_identity(item)
        if identity in seen:
            yield f"{join_path(path, index)}: must be unique"
        seen.add(identity)


def _length_keyword(applies_to: Predicate, comparison: Compare, sentence: str) -> Keyword:
    def parse(raw: Any, schema_path: SchemaPath) -> Check:
        if not is_integer(raw) or raw < 0:
            schema_path.fail("must be a whole number of at least 0")
        return require(
            lambda value: comparison(len(value), raw),
            sentence.format(int(raw)),
            applies_to=applies_to,
        )

    return parse


def _bound_keyword(comparison: Compare, sentence: str) -> Keyword:
    def parse(raw: Any, schema_path: SchemaPath) -> Check:
        if not is_number(raw) or not (isinstance(raw, int) or math.isfinite(raw)):
            schema_path.fail("must be a number")
        return require(
            lambda value: comparison(value, raw),
            sentence.format(_format_number(raw)),
            applies_to=is_number,
        )

    return parse


def _format_number(number: float) -> str:
    """Format a bound. Huge numbers are not printed, because Python limits their conversion."""
    return f"{number:,}" if abs(number) < 10**18 else "a huge number"


ASSERTIONS: dict[str, Keyword] = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "required": _required,
    "minItems": _length_keyword(is_list, operator.ge, "have at least {} items"),
    "maxItems": _length_keyword(is_list, operator.le, "have at most {} items"),
    "uniqueItems": _unique_items,
    "minLength": _length_keyword(is_string, operator.ge, "have at least {} characters"),
    "maxLength": _length_keyword(is_string, operator.le, "have at most {} characters"),
    "minimum": _bound_keyword(operator.ge, "be at least {}"),
    "maximum": _bound_keyword(operator.le, "be at most {}"),
    "exclusiveMinimum": _bound_keyword(operator.gt, "be more than {}"),
    "exclusiveMaximum": _bound_keyword(operator.lt, "be less than {}"),
}
