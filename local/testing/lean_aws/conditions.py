"""Condition, filter and key condition expressions: a parser and the nodes it returns."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

from local.testing.lean_aws.errors import validation_error
from local.testing.lean_aws.lexer import Tokens
from local.testing.lean_aws.paths import Path, Scope, parse_path
from local.testing.lean_aws.values import (
    AttributeValue,
    Item,
    are_equal,
    measure_value,
    to_comparable,
    type_of,
)

_ORDERED_TYPES = ("S", "N", "B")
_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Operand(Protocol):
    def evaluate(self, item: Item, scope: Scope) -> AttributeValue | None: ...


class Condition(Protocol):
    def holds(self, item: Item, scope: Scope) -> bool: ...


@dataclass(frozen=True)
class Placeholder:
    token: str

    def evaluate(self, _item: Item, scope: Scope) -> AttributeValue:
        return scope.value(self.token)


@dataclass(frozen=True)
class Size:
    path: Path

    def evaluate(self, item: Item, scope: Scope) -> AttributeValue | None:
        value = self.path.evaluate(item, scope)
        if value is None:
            return None
        [(kind, content)] = value.items()
        return {
            "N": str(len(content) if kind in ("L", "M", "SS", "NS", "BS") else measure_value(value))
        }


@dataclass(frozen=True)
class Comparison:
    comparator: str
    left: Operand
    right: Operand

    def holds(self, item: Item, scope: Scope) -> bool:
        left, right = self.left.evaluate(item, scope), self.right.evaluate(item, scope)
        if left is None or right is None:
            return self.comparator == "<>" and left is not right
        return compare(self.comparator, left, right)


def compare(comparator: str, left: AttributeValue, right: AttributeValue) -> bool:
    if comparator in ("=", "<>"):
        return are_equal(left, right) is (comparator == "=")
    if type_of(left) != type_of(right) or type_of(left) not in _ORDERED_TYPES:
        return False
    return _ORDER[comparator](to_comparable(left), to_comparable(right))


@dataclass(frozen=True)
class Between:
    operand: Operand
    low: Operand
    high: Operand

    def holds(self, item: Item, scope: Scope) -> bool:
        low_holds = Comparison(">=", self.operand, self.low).holds(item, scope)
        return low_holds and Comparison("<=", self.operand, self.high).holds(item, scope)


@dataclass(frozen=True)
class OneOf:
    operand: Operand
    options: tuple[Operand, ...]

    def holds(self, item: Item, scope: Scope) -> bool:
        return any(Comparison("=", self.operand, one).holds(item, scope) for one in self.options)


@dataclass(frozen=True)
class Call:
    function: str
    arguments: tuple[Operand, ...]

    def holds(self, item: Item, scope: Scope) -> bool:
        values = [argument.evaluate(item, scope) for argument in self.arguments]
        return _FUNCTIONS[self.function](*values)


@dataclass(frozen=True)
class Junction:
    """All parts joined by AND (`is_all`), or by OR."""

    is_all: bool
    parts: tuple[Condition, ...]

    def holds(self, item: Item, scope: Scope) -> bool:
        # Every part is evaluated, since DynamoDB reports an undefined placeholder in any of them.
        results = [part.holds(item, scope) for part in self.parts]
        return all(results) if self.is_all else any(results)


@dataclass(frozen=True)
class Negation:
    part: Condition

    def holds(self, item: Item, scope: Scope) -> bool:
        return not self.part.holds(item, scope)


def _begins_with(value: AttributeValue | None, prefix: AttributeValue | None) -> bool:
    if prefix is None or "S" not in prefix:
        raise validation_error("Incorrect operand type for operator or function: begins_with")
    return value is not None and str(value.get("S", "")).startswith(prefix["S"]) and "S" in value


def _contains(value: AttributeValue | None, part: AttributeValue | None) -> bool:
    if value is None or part is None:
        return False
    [(kind, content)] = value.items()
    if kind == "S":
        return "S" in part and part["S"] in content
    if kind == "L":
        return any(are_equal(one, part) for one in content)
    return kind in ("SS", "NS", "BS") and any(are_equal({kind[0]: one}, part) for one in content)


def _has_type(value: AttributeValue | None, name: AttributeValue | None) -> bool:
    return value is not None and name is not None and type_of(value) == name.get("S")


_FUNCTIONS: dict[str, Callable[..., bool]] = {
    "attribute_exists": lambda value: value is not None,
    "attribute_not_exists": lambda value: value is None,
    "attribute_type": _has_type,
    "begins_with": _begins_with,
    "contains": _contains,
}


@lru_cache(maxsize=4096)
def parse_condition(text: str) -> tuple[Condition, frozenset[str]]:
    """Return the condition and the placeholders that it names."""
    tokens = Tokens(text)
    condition = _parse_or(tokens)
    tokens.check_end()
    return condition, tokens.used


def _parse_or(tokens: Tokens) -> Condition:
    parts = [_parse_and(tokens)]
    while tokens.skip("OR"):
        parts.append(_parse_and(tokens))
    return parts[0] if len(parts) == 1 else Junction(False, tuple(parts))


def _parse_and(tokens: Tokens) -> Condition:
    parts = [_parse_not(tokens)]
    while tokens.skip("AND"):
        parts.append(_parse_not(tokens))
    return parts[0] if len(parts) == 1 else Junction(True, tuple(parts))


def _parse_not(tokens: Tokens) -> Condition:
    if tokens.skip("NOT"):
        return Negation(_parse_not(tokens))
    if tokens.skip("("):
        inner = _parse_or(tokens)
        tokens.take(")")
        return inner
    if tokens.is_call() and tokens.peek() in _FUNCTIONS:
        return Call(tokens.take(), _parse_arguments(tokens))
    return _parse_comparison(tokens)


def _parse_comparison(tokens: Tokens) -> Condition:
    left = parse_operand(tokens)
    if tokens.skip("BETWEEN"):
        low = parse_operand(tokens)
        tokens.take("AND")
        return Between(left, low, parse_operand(tokens))
    if tokens.skip("IN"):
        return OneOf(left, _parse_arguments(tokens))
    comparator = tokens.take()
    if comparator not in ("=", "<>", *_ORDER):
        raise tokens.syntax_error()
    return Comparison(comparator, left, parse_operand(tokens))


def _parse_arguments(tokens: Tokens) -> tuple[Operand, ...]:
    tokens.take("(")
    arguments = [parse_operand(tokens)]
    while tokens.skip(","):
        arguments.append(parse_operand(tokens))
    tokens.take(")")
    return tuple(arguments)


def parse_operand(tokens: Tokens) -> Operand:
    if tokens.peek().startswith(":"):
        return Placeholder(tokens.take())
    if tokens.peek() == "size" and tokens.is_call():
        tokens.take()
        tokens.take("(")
        path = parse_path(tokens)
        tokens.take(")")
        return Size(path)
    return parse_path(tokens)
