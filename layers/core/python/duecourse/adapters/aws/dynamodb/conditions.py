"""Conditional writes, and how to tell a lost condition from other errors."""

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
# Reasons caused by other writers. A transaction can also be cancelled because it was throttled or
# invalid.
CONFLICT_REASONS = frozenset({"None", "ConditionalCheckFailed", "TransactionConflict"})


def is_condition_failed(error: PynamoDBException) -> bool:
    return _error_code(error) == CONDITION_FAILED


def update_if(item: Model, actions: Sequence[Action], *, condition: Condition) -> bool:
    """Update `item` and return True, or return False if `condition` does not hold.

    False means this call wrote nothing. An earlier request of ours, whose response was lost, may
    have written it.
    """
    try:
        item.update(list(actions), condition)
    except UpdateError as error:
        if not is_condition_failed(error):
            raise
        return False
    return True


def is_conflict(error: PynamoDBException) -> bool:
    """Return whether a write of others, or an earlier request of ours, came first.

    In the second case our response was lost. The caller has to read the item to find out which it
    is.
    """
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
    """Return the error response, or an empty dict for errors without one, such as timeouts.

    PynamoDB's own `cause_response_code` raises for those.
    """
    return getattr(error.cause, "response", None) or {}
