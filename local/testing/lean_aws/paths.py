"""Document paths such as `payload.items[2]`, and the values of an expression's placeholders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from local.testing.lean_aws.errors import validation_error
from local.testing.lean_aws.lexer import Tokens
from local.testing.lean_aws.values import AttributeValue, Item

ResolvedPath = tuple[str | int, ...]


@dataclass(frozen=True)
class Scope:
    """ExpressionAttributeNames and ExpressionAttributeValues."""

    names: dict[str, str]
    values: dict[str, AttributeValue]

    def name(self, token: str) -> str:
        if not token.startswith("#"):
            return token
        if token not in self.names:
            raise validation_error(f"An expression attribute name is not defined: {token}")
        return self.names[token]

    def value(self, token: str) -> AttributeValue:
        if token not in self.values:
            raise validation_error(f"An expression attribute value is not defined: {token}")
        return self.values[token]

    def check_all_used(self, used: frozenset[str]) -> None:
        if unused := (self.names.keys() | self.values.keys()) - used:
            raise validation_error(
                f"Value provided in ExpressionAttributeNames or ExpressionAttributeValues"
                f" unused in expressions: keys: {{{', '.join(sorted(unused))}}}"
            )


def scope_of(request: dict[str, Any]) -> Scope:
    return Scope(
        request.get("ExpressionAttributeNames") or {},
        request.get("ExpressionAttributeValues") or {},
    )


@dataclass(frozen=True)
class Path:
    tokens: tuple[str | int, ...]

    def resolve(self, scope: Scope) -> ResolvedPath:
        return tuple(
            token if isinstance(token, int) else scope.name(token) for token in self.tokens
        )

    def evaluate(self, item: Item, scope: Scope) -> AttributeValue | None:
        return read_path(item, self.resolve(scope))


def parse_path(tokens: Tokens) -> Path:
    first = tokens.take()
    if first[0] == ":" or not (first[0] == "#" or first[0].isalpha() or first[0] == "_"):
        raise tokens.syntax_error()
    steps: list[str | int] = [first]
    while tokens.peek() in (".", "["):
        if tokens.skip("."):
            steps.append(tokens.take())
        else:
            tokens.take("[")
            steps.append(int(tokens.take()))
            tokens.take("]")
    return Path(tuple(steps))


def read_path(item: Item, path: ResolvedPath) -> AttributeValue | None:
    value: AttributeValue | None = item.get(str(path[0]))
    for step in path[1:]:
        if value is None:
            return None
        value = _read_step(value, step)
    return value


def _read_step(value: AttributeValue, step: str | int) -> AttributeValue | None:
    if isinstance(step, int):
        elements = value.get("L", ())
        return elements[step] if step < len(elements) else None
    found: AttributeValue | None = value.get("M", {}).get(step)
    return found
