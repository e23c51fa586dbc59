"""Writes on a condition, and whether one failed because somebody else's came first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pynamodb.exceptions import PynamoDBException, UpdateError
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.models import Model

CONDITION_FAILED = "ConditionalCheckFailedException"
TRANSACTION_CANCELLED = "TransactionCanceledException"
TRANSACTION_CONFLICT = "TransactionConflictException"
# Why a transaction is cancelled by others; by itself it may also be throttled or invalid.
CONFLICT_REASONS = frozenset({"None", "ConditionalCheckFailed", "TransactionConflict"})


def is_condition_failed(error: PynamoDBException) -> bool:
    return _error_code(error) == CONDITION_FAILED


def update_if(item: Model, actions: Sequence[Action], *, condition: Condition) -> bool:
    """False if the condition was lost; nothing was written then, unless by ourselves before."""
    try:
        item.update(list(actions), condition)
    except UpdateError as error:
        if not is_condition_failed(error):
            raise
        return False
    return True


def is_conflict(error: PynamoDBException) -> bool:
    """Nothing was written, or it was written before and the answer lost: look what is there."""
    code = _error_code(error)
    if code == TRANSACTION_CANCELLED:
        return {
            reason.get("Code", "None") for reason in _cancellation_reasons(error)
        } <= CONFLICT_REASONS
    return code in (CONDITION_FAILED, TRANSACTION_CONFLICT)


def _cancellation_reasons(error: PynamoDBException) -> list[dict[str, str]]:
    found: list[dict[str, str]] = _response(error).get("CancellationReasons", [])
    return found


def _error_code(error: PynamoDBException) -> str | None:
    found: str | None = _response(error).get("Error", {}).get("Code")
    return found


def _response(error: PynamoDBException) -> dict[str, Any]:
    """PynamoDB's own `cause_response_code` breaks on a cause without a response: a time-out."""
    return getattr(error.cause, "response", None) or {}
