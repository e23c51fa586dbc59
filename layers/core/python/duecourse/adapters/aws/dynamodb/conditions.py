"""Writes on a condition, and whether one failed because somebody else's came first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pynamodb.exceptions import PynamoDBException, UpdateError
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.models import Model

LOST_CONDITION = "ConditionalCheckFailedException"
CANCELLED = "TransactionCanceledException"
MET_A_TRANSACTION = "TransactionConflictException"
# Why a transaction is cancelled by others; by itself it may also be throttled or invalid.
BY_OTHERS = frozenset({"None", "ConditionalCheckFailed", "TransactionConflict"})


def lost_its_condition(error: PynamoDBException) -> bool:
    return _code(error) == LOST_CONDITION


def updated(item: Model, changes: Sequence[Action], *, where: Condition) -> bool:
    """False if the condition was lost; nothing was written then, unless by ourselves before."""
    try:
        item.update(list(changes), where)
    except UpdateError as error:
        if not lost_its_condition(error):
            raise
        return False
    return True


def lost_a_race(error: PynamoDBException) -> bool:
    """Nothing was written, or it was written before and the answer lost: look what is there."""
    code = _code(error)
    if code == CANCELLED:
        return {reason.get("Code", "None") for reason in _reasons(error)} <= BY_OTHERS
    return code in (LOST_CONDITION, MET_A_TRANSACTION)


def _reasons(error: PynamoDBException) -> list[dict[str, str]]:
    found: list[dict[str, str]] = _response(error).get("CancellationReasons", [])
    return found


def _code(error: PynamoDBException) -> str | None:
    found: str | None = _response(error).get("Error", {}).get("Code")
    return found


def _response(error: PynamoDBException) -> dict[str, Any]:
    """PynamoDB's own `cause_response_code` breaks on a cause without a response: a time-out."""
    return getattr(error.cause, "response", None) or {}
