"""Whether a write failed because somebody else's came first."""

from __future__ import annotations

from pynamodb.exceptions import PynamoDBException

LOST_CONDITION = "ConditionalCheckFailedException"
# A transaction whose conditions did not hold, or a write that met one under way.
IN_EACH_OTHERS_WAY = frozenset({"TransactionCanceledException", "TransactionConflictException"})


def lost_its_condition(error: PynamoDBException) -> bool:
    return _code(error) == LOST_CONDITION


def lost_a_race(error: PynamoDBException) -> bool:
    """Nothing was written, or it was written before and the answer lost: look what is there."""
    return lost_its_condition(error) or _code(error) in IN_EACH_OTHERS_WAY


def _code(error: PynamoDBException) -> str | None:
    """PynamoDB's own `cause_response_code` breaks on a cause without a response: a time-out."""
    response = getattr(error.cause, "response", None) or {}
    found: str | None = response.get("Error", {}).get("Code")
    return found
