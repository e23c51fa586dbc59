"""Transactions: all writes or none, with the reasons for a cancellation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from local.testing.lean_aws import reads
from local.testing.lean_aws.errors import AwsError, check_parameters, validation_error
from local.testing.lean_aws.table import Table
from local.testing.lean_aws.writes import Write, key_of_write, prepare

MAX_ACTIONS = 100
# Like moto, it ignores the token: a retry meets the conditions again, which is harder to survive.
_PARAMETERS = frozenset(
    {"TransactItems", "ReturnConsumedCapacity", "ReturnItemCollectionMetrics", "ClientRequestToken"}
)
_REASONS = {
    "ConditionalCheckFailedException": "ConditionalCheckFailed",
    "ValidationException": "ValidationError",
}
FindTable = Callable[[str], Table]


def write_in_transaction(request: dict[str, Any], find_table: FindTable) -> dict[str, Any]:
    check_parameters("TransactWriteItems", request, _PARAMETERS)
    actions = [next(iter(action.items())) for action in request["TransactItems"]]
    if not 1 <= len(actions) <= MAX_ACTIONS:
        raise validation_error(f"A transaction has 1 to {MAX_ACTIONS} actions")
    keys = [
        (one["TableName"], key_of_write(kind, find_table(one["TableName"]), one))
        for kind, one in actions
    ]
    if len(set(keys)) < len(keys):
        raise validation_error("Transaction request cannot include multiple operations on one item")
    for write in _prepare_all(actions, find_table):
        write.commit()
    return {}


def _prepare_all(actions: list[tuple[str, dict[str, Any]]], find_table: FindTable) -> list[Write]:
    writes: list[Write] = []
    reasons: list[dict[str, Any]] = []
    for kind, one in actions:
        try:
            writes.append(prepare(kind, find_table(one["TableName"]), one))
            reasons.append({"Code": "None"})
        except AwsError as error:
            if error.code not in _REASONS:
                raise
            reasons.append({"Code": _REASONS[error.code], "Message": error.message, **error.fields})
    if len(writes) < len(actions):
        codes = ", ".join(reason["Code"] for reason in reasons)
        raise AwsError(
            "TransactionCanceledException",
            "Transaction cancelled, please refer cancellation reasons for specific reasons"
            f" [{codes}]",
            CancellationReasons=reasons,
        )
    return writes


def get_in_transaction(request: dict[str, Any], find_table: FindTable) -> dict[str, Any]:
    check_parameters("TransactGetItems", request, _PARAMETERS)
    gets = [one["Get"] for one in request["TransactItems"]]
    return {"Responses": [reads.get_item(find_table(one["TableName"]), one) for one in gets]}
