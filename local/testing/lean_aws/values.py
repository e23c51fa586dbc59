"""Attribute values of DynamoDB in their wire format, such as {"S": "text"} and {"N": "1"}."""

from __future__ import annotations

from base64 import b64decode, b64encode
from decimal import Context, Decimal, InvalidOperation
from typing import Any

from local.testing.lean_aws.errors import validation_error

AttributeValue = dict[str, Any]
Item = dict[str, AttributeValue]
_NUMBERS = Context(prec=38)
_SETS = frozenset({"SS", "NS", "BS"})


def type_of(value: AttributeValue) -> str:
    [name] = value
    return name


def number(text: str) -> Decimal:
    try:
        return _NUMBERS.create_decimal(text)
    except InvalidOperation as error:
        raise validation_error(
            f"The parameter cannot be converted to a numeric value: {text}"
        ) from error


def number_value(amount: Decimal) -> AttributeValue:
    """Return the number as DynamoDB writes it: without an exponent and without trailing zeros."""
    text = format(amount, "f")
    return {"N": text.rstrip("0").rstrip(".") if "." in text else text}


def add_numbers(one: AttributeValue, other: AttributeValue, sign: int = 1) -> AttributeValue:
    left, right = number(one["N"]), number(other["N"])
    return number_value(_NUMBERS.add(left, right) if sign > 0 else _NUMBERS.subtract(left, right))


def to_comparable(value: AttributeValue) -> Any:
    """Return a Python value that is equal, and for S and N also ordered, as DynamoDB compares."""
    [(kind, content)] = value.items()
    match kind:
        case "N":
            return number(content)
        case "SS" | "BS":
            return frozenset(content)
        case "NS":
            return frozenset(map(number, content))
        case "L":
            return [(type_of(one), to_comparable(one)) for one in content]
        case "M":
            return {name: (type_of(one), to_comparable(one)) for name, one in content.items()}
        case _:
            return content


def are_equal(one: AttributeValue, other: AttributeValue) -> bool:
    if one == other:
        return True
    return type_of(one) == type_of(other) and to_comparable(one) == to_comparable(other)


def copy_item(item: Item) -> Item:
    return {name: copy_value(value) for name, value in item.items()}


def copy_value(value: AttributeValue) -> AttributeValue:
    [(kind, content)] = value.items()
    if kind == "M":
        return {"M": {name: copy_value(one) for name, one in content.items()}}
    if kind == "L":
        return {"L": [copy_value(one) for one in content]}
    return {kind: list(content)} if kind in _SETS else {kind: content}


def decode_binary(value: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON object with its base64 texts as bytes, if it is a binary attribute."""
    match value:
        case {"B": str(text)}:
            return {"B": b64decode(text)}
        case {"BS": [*texts]} if all(isinstance(text, str) for text in texts):
            return {"BS": [b64decode(text) for text in texts]}
    return value


def encode_binary(value: AttributeValue) -> AttributeValue:
    """Return a copy of the value with its bytes as base64, as Lambda receives stream records."""
    [(kind, content)] = value.items()
    match kind:
        case "B":
            return {"B": b64encode(content).decode()}
        case "BS":
            return {"BS": [b64encode(one).decode() for one in content]}
        case "M":
            return {"M": {name: encode_binary(one) for name, one in content.items()}}
        case "L":
            return {"L": [encode_binary(one) for one in content]}
    return copy_value(value)


def measure_item(item: Item) -> int:
    """Check every value and return the item's size in bytes, roughly as DynamoDB counts it."""
    return sum(len(name) + measure_value(value) for name, value in item.items())


def measure_value(value: AttributeValue) -> int:
    if len(value) != 1:
        raise validation_error("Supplied AttributeValue must contain exactly one type")
    [(kind, content)] = value.items()
    match kind:
        case "S":
            return len(content.encode("utf-8", "surrogatepass"))
        case "N":
            number(content)
            return len(content) // 2 + 1
        case "M":
            return 3 + sum(len(name) + 1 + measure_value(one) for name, one in content.items())
        case "L":
            return 3 + sum(1 + measure_value(one) for one in content)
        case _:
            return _measure_other(kind, content)


def _measure_other(kind: str, content: Any) -> int:
    if kind in ("BOOL", "NULL"):
        return 1
    if kind == "B":
        return len(content)
    if kind not in _SETS:
        raise validation_error(f"Supplied AttributeValue has the unknown type {kind}")
    if not content:
        raise validation_error("One or more parameter values were invalid: a set may not be empty")
    if len(set(content)) < len(content):
        raise validation_error("Input collection contains duplicates")
    return sum(measure_value({kind[0]: one}) for one in content)
