"""What the SET clause of an update expression assigns."""

from __future__ import annotations

from dataclasses import dataclass

from local.testing.lean_aws.conditions import Operand, Placeholder
from local.testing.lean_aws.errors import validation_error
from local.testing.lean_aws.lexer import Tokens
from local.testing.lean_aws.paths import Path, Scope, parse_path
from local.testing.lean_aws.values import AttributeValue, Item, add_numbers


@dataclass(frozen=True)
class Required:
    """An attribute that has to exist, as every path on the right-hand side."""

    path: Path

    def evaluate(self, item: Item, scope: Scope) -> AttributeValue:
        found = self.path.evaluate(item, scope)
        if found is None:
            raise validation_error(
                "The provided expression refers to an attribute that does not exist in the item"
            )
        return found


@dataclass(frozen=True)
class IfNotExists:
    path: Path
    default: Operand

    def evaluate(self, item: Item, scope: Scope) -> AttributeValue | None:
        found = self.path.evaluate(item, scope)
        return self.default.evaluate(item, scope) if found is None else found


@dataclass(frozen=True)
class ListAppend:
    first: Operand
    second: Operand

    def evaluate(self, item: Item, scope: Scope) -> AttributeValue:
        first, second = self.first.evaluate(item, scope), self.second.evaluate(item, scope)
        if first is None or second is None or "L" not in first or "L" not in second:
            raise wrong_type()
        return {"L": [*first["L"], *second["L"]]}


@dataclass(frozen=True)
class Sum:
    left: Operand
    right: Operand
    sign: int

    def evaluate(self, item: Item, scope: Scope) -> AttributeValue:
        left, right = self.left.evaluate(item, scope), self.right.evaluate(item, scope)
        if left is None or right is None or "N" not in left or "N" not in right:
            raise wrong_type()
        return add_numbers(left, right, self.sign)


def wrong_type() -> Exception:
    return validation_error("An operand in the update expression has an incorrect data type")


def parse_assigned(tokens: Tokens) -> Operand:
    left = _parse_term(tokens)
    if tokens.peek() in ("+", "-"):
        sign = 1 if tokens.take() == "+" else -1
        return Sum(left, _parse_term(tokens), sign)
    return left


def _parse_term(tokens: Tokens) -> Operand:
    if tokens.peek().startswith(":"):
        return Placeholder(tokens.take())
    if tokens.skip("("):
        inner = parse_assigned(tokens)
        tokens.take(")")
        return inner
    if not tokens.is_call():
        return Required(parse_path(tokens))
    return _parse_call(tokens)


def _parse_call(tokens: Tokens) -> Operand:
    function = tokens.take()
    tokens.take("(")
    if function == "if_not_exists":
        path = parse_path(tokens)
        tokens.take(",")
        found: Operand = IfNotExists(path, parse_assigned(tokens))
    elif function == "list_append":
        first = parse_assigned(tokens)
        tokens.take(",")
        found = ListAppend(first, parse_assigned(tokens))
    else:
        raise validation_error(f"Invalid UpdateExpression: Invalid function name: {function}")
    tokens.take(")")
    return found
