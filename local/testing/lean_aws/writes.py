"""Single writes: PutItem, UpdateItem, DeleteItem and a transaction's ConditionCheck."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from local.testing.lean_aws.conditions import parse_condition
from local.testing.lean_aws.errors import (
    AwsError,
    UnsupportedError,
    check_parameters,
    validation_error,
)
from local.testing.lean_aws.key_schema import Key
from local.testing.lean_aws.paths import Scope, scope_of
from local.testing.lean_aws.table import Table
from local.testing.lean_aws.updates import Update, parse_update
from local.testing.lean_aws.values import Item, copy_item

_EXPRESSIONS = {"ConditionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues"}
_RETURNED = {
    "ReturnValues",
    "ReturnConsumedCapacity",
    "ReturnItemCollectionMetrics",
    "ReturnValuesOnConditionCheckFailure",
}
_PARAMETERS = {
    "Put": frozenset({"TableName", "Item", *_EXPRESSIONS, *_RETURNED}),
    "Update": frozenset({"TableName", "Key", "UpdateExpression", *_EXPRESSIONS, *_RETURNED}),
    "Delete": frozenset({"TableName", "Key", *_EXPRESSIONS, *_RETURNED}),
    "ConditionCheck": frozenset({"TableName", "Key", *_EXPRESSIONS, *_RETURNED}),
}


@dataclass(frozen=True)
class Write:
    """A write whose condition holds. `commit` carries it out. `changed` are attribute names."""

    commit: Callable[[], None]
    old: Item | None
    new: Item | None
    changed: tuple[str, ...] = ()


def check_write_parameters(kind: str, request: dict[str, Any]) -> None:
    check_parameters(kind, request, _PARAMETERS[kind])


def key_of_write(kind: str, table: Table, request: dict[str, Any]) -> Key:
    if kind == "Put":
        return table.schema.key_of(request["Item"])
    return table.schema.check_exact(request["Key"])


def prepare(kind: str, table: Table, request: dict[str, Any]) -> Write:
    """Check the write against the stored item. Raises AwsError; nothing is changed yet."""
    check_write_parameters(kind, request)
    scope = scope_of(request)
    key = key_of_write(kind, table, request)
    old = table.get(key)
    update = parse_update(request["UpdateExpression"]) if "UpdateExpression" in request else None
    _check_condition(request, scope, old, update)
    if kind == "Put":
        return Write(table.check(request["Item"]), old, request["Item"])
    if kind == "Update":
        return _prepare_update(table, request, scope, update)
    if kind == "Delete":
        return Write(lambda: table.delete(key), old, None)
    return Write(lambda: None, old, old)


def _check_condition(
    request: dict[str, Any], scope: Scope, old: Item | None, update: Update | None
) -> None:
    used = update.used if update else frozenset[str]()
    is_met = True
    if text := request.get("ConditionExpression"):
        condition, more = parse_condition(text)
        used |= more
        is_met = condition.holds(old or {}, scope)
    scope.check_all_used(used)
    if not is_met:
        raise _condition_failed(request, old)


def _condition_failed(request: dict[str, Any], old: Item | None) -> AwsError:
    error = AwsError("ConditionalCheckFailedException", "The conditional request failed")
    if old is not None and request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD":
        error.fields["Item"] = copy_item(old)
    return error


def _prepare_update(
    table: Table, request: dict[str, Any], scope: Scope, update: Update | None
) -> Write:
    old = table.get(table.schema.key_of(request["Key"]))
    before = request["Key"] if old is None else old
    if update is None:
        return Write(table.check(copy_item(before)), old, before)
    paths = update.changed_paths(scope)
    for path in paths:
        if path[0] in table.schema.names:
            raise validation_error(
                "One or more parameter values were invalid:"
                f" Cannot update attribute {path[0]}. This attribute is part of the key"
            )
    if any(len(path) > 1 for path in paths) and "UPDATED" in request.get("ReturnValues", ""):
        raise UnsupportedError("ReturnValues UPDATED_OLD and UPDATED_NEW of nested attributes")
    new = update.apply(before, scope)
    return Write(table.check(new), old, new, tuple(str(path[0]) for path in paths))


def returned_attributes(request: dict[str, Any], write: Write) -> dict[str, Any]:
    """Return the response for the request's ReturnValues."""
    kind = request.get("ReturnValues", "NONE")
    if kind == "NONE":
        return {}
    found = write.old if kind.endswith("OLD") else write.new
    attributes = copy_item(found or {})
    if kind.startswith("UPDATED"):
        attributes = {name: one for name, one in attributes.items() if name in write.changed}
    return {"Attributes": attributes} if attributes else {}
