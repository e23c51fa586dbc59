"""JSON values: their types, size and equality. True is not a number, and 1.0 is an integer."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import chain
from typing import Any

Predicate = Callable[[Any], bool]


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_integer(value: Any) -> bool:
    return is_number(value) and (isinstance(value, int) or value.is_integer())


def is_string(value: Any) -> bool:
    return isinstance(value, str)


def is_list(value: Any) -> bool:
    return isinstance(value, list)


def is_object(value: Any) -> bool:
    return isinstance(value, dict)


JSON_TYPES: dict[str, tuple[Predicate, str]] = {
    "array": (is_list, "a list"),
    "boolean": (lambda value: isinstance(value, bool), "true or false"),
    "integer": (is_integer, "a whole number"),
    "null": (lambda value: value is None, "null"),
    "number": (is_number, "a number"),
    "object": (is_object, "an object"),
    "string": (is_string, "a string"),
}


def measure(value: Any) -> tuple[int, int]:
    """Return the nesting depth and the number of values.

    It loops over levels: recursion would overflow on the very values that this guards against.
    """
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


def json_identity(value: Any) -> Hashable:
    """Return a key that is equal for equal JSON values: 1 equals 1.0, but not true."""
    match value:
        case bool():
            return (bool, value)
        case list():
            return (list, tuple(map(json_identity, value)))
        case dict():
            return (dict, frozenset((name, json_identity(part)) for name, part in value.items()))
    return value if isinstance(value, int | float | str) else None
