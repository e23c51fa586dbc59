"""Tables that throttle every call of every function for up to a minute."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from local.simulate.faults import DrawnFaults
from local.simulate.functions import current_invocation
from local.testing.lean_aws.errors import AwsError

MAX_SECONDS = 60.0
_CODE = "ProvisionedThroughputExceededException"


class ThrottledTables:
    def __init__(self, faults: DrawnFaults, elapsed: Callable[[], timedelta]) -> None:
        self._faults = faults
        self._elapsed = elapsed
        self._calls: Counter[str] = Counter()
        self._until: dict[str, timedelta] = {}

    def check(self, service: str, operation: str, request: dict[str, Any]) -> None:
        """Raise AwsError if a table of the request is throttled."""
        invocation = current_invocation()
        if service != "dynamodb" or not self._faults.is_active or invocation is None:
            return
        for table in tables_of(request):
            if self._is_throttled(table):
                self._faults.note_failed_call(invocation.function)
                raise _throttled(operation, request)

    def _is_throttled(self, table: str) -> bool:
        self._calls[table] += 1
        until = self._until.get(table)
        if until is not None and self._elapsed() < until:
            return True
        part = self._faults.strike("throttled-table", f"{table} call {self._calls[table]}")
        if part is None:
            return False
        self._until[table] = self._elapsed() + timedelta(seconds=part * MAX_SECONDS)
        return True


def tables_of(request: dict[str, Any]) -> list[str]:
    """Return the names of the tables that a request of DynamoDB reads or writes."""
    if "TransactItems" in request:
        found = [one["TableName"] for action in request["TransactItems"] for one in action.values()]
        return list(dict.fromkeys(found))
    return [request["TableName"]] if "TableName" in request else list(request["RequestItems"])


def _throttled(operation: str, request: dict[str, Any]) -> AwsError:
    """Return the error. A transaction is cancelled instead, and says so for each action."""
    if not operation.startswith("Transact"):
        return AwsError(_CODE, "The request rate is too high")
    reasons = [{"Code": "ThrottlingError"} for _ in request["TransactItems"]]
    message = "Transaction cancelled, please refer cancellation reasons for specific reasons"
    return AwsError("TransactionCanceledException", message, CancellationReasons=reasons)
