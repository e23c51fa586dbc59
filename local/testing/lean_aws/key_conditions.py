"""Key conditions: one value of the hash key, and a range of the sort key."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import lru_cache
from operator import itemgetter
from typing import Any

from local.testing.lean_aws.conditions import (
    Between,
    Call,
    Comparison,
    Condition,
    Junction,
    Operand,
    parse_condition,
)
from local.testing.lean_aws.errors import validation_error
from local.testing.lean_aws.key_schema import Entry, KeySchema, SortedEntries
from local.testing.lean_aws.paths import Path, Scope
from local.testing.lean_aws.values import to_comparable, type_of

_SORT_KEY = itemgetter(0)
KeyCondition = tuple[Path, str, tuple[Operand, ...]]


@lru_cache(maxsize=4096)
def parse_key_condition(text: str) -> tuple[tuple[KeyCondition, ...], frozenset[str]]:
    condition, used = parse_condition(text)
    return tuple(_to_key_condition(part) for part in _split(condition)), used


def find_range(
    conditions: tuple[KeyCondition, ...], scope: Scope, schema: KeySchema, entries: SortedEntries
) -> tuple[Any, int, int | None]:
    """Return the hash key's value, and the first and the last position of the range."""
    by_name = {str(path.resolve(scope)[0]): (kind, args) for path, kind, args in conditions}
    if len(by_name) != len(conditions) or not by_name.keys() <= set(schema.names):
        raise validation_error("Query condition missed key schema element")
    kind, arguments = by_name.get(schema.hash_name, ("", ()))
    if kind != "=":
        raise validation_error(f"Query condition missed key schema element: {schema.hash_name}")
    [hash_value] = _values(arguments, scope, schema.types[schema.hash_name])
    if schema.range_name not in by_name:
        return hash_value, 0, None
    kind, arguments = by_name[schema.range_name]
    values = _values(arguments, scope, schema.types[schema.range_name])
    return hash_value, *_find_positions(entries.partition(hash_value), kind, values)


def _find_positions(entries: list[Entry], kind: str, values: list[Any]) -> tuple[int, int]:
    first = values[0]
    match kind:
        case "=" | "BETWEEN":
            last = values[-1]
            if last < first:
                raise validation_error(
                    "The BETWEEN operator requires upper bound to be greater than lower bound"
                )
            low = bisect_left(entries, first, key=_SORT_KEY)
            return low, bisect_right(entries, last, key=_SORT_KEY)
        case "begins_with":
            low = bisect_left(entries, first, key=_SORT_KEY)
            return low, bisect_right(entries, first, key=lambda entry: entry[0][: len(first)])
        case "<" | "<=":
            bisect = bisect_left if kind == "<" else bisect_right
            return 0, bisect(entries, first, key=_SORT_KEY)
        case _:
            bisect = bisect_right if kind == ">" else bisect_left
            return bisect(entries, first, key=_SORT_KEY), len(entries)


def _values(arguments: tuple[Operand, ...], scope: Scope, attribute_type: str) -> list[Any]:
    values = [argument.evaluate({}, scope) for argument in arguments]
    if any(value is None or type_of(value) != attribute_type for value in values):
        raise validation_error(
            "One or more parameter values were invalid: Condition parameter type does not match"
            " schema type"
        )
    return [to_comparable(value) for value in values if value is not None]


def _split(condition: Condition) -> list[Condition]:
    if isinstance(condition, Junction) and condition.is_all:
        return [one for part in condition.parts for one in _split(part)]
    return [condition]


def _to_key_condition(condition: Condition) -> KeyCondition:
    match condition:
        case Comparison(comparator, Path() as path, right) if comparator != "<>":
            return path, comparator, (right,)
        case Between(Path() as path, low, high):
            return path, "BETWEEN", (low, high)
        case Call("begins_with", (Path() as path, prefix)):
            return path, "begins_with", (prefix,)
    raise validation_error("Invalid operator used in KeyConditionExpression")
