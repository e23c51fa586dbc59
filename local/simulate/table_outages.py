"""Tables that refuse every call of every function for up to a minute."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from local.simulate.faults import DrawnFaults
from local.simulate.functions import current_invocation
from local.testing.lean_aws.errors import AwsError

MAX_SECONDS = 60.0
# By fault: the code, the status, and the reason that a cancelled transaction states.
_ERRORS: Mapping[str, tuple[str, int, str | None]] = {
    "throttled-table": ("ProvisionedThroughputExceededException", 400, "ThrottlingError"),
    "failing-table": ("InternalServerError", 500, None),
}


class TableOutages:
    def __init__(self, faults: DrawnFaults, elapsed: Callable[[], timedelta]) -> None:
        self._faults = faults
        self._elapsed = elapsed
        self._calls: Counter[str] = Counter()
        self._outages: dict[str, tuple[str, timedelta]] = {}  # the fault, and until when

    def check(self, service: str, operation: str, request: dict[str, Any]) -> None:
        """Raise AwsError if a table of the request refuses calls."""
        invocation = current_invocation()
        if service != "dynamodb" or not self._faults.is_active or invocation is None:
            return
        for table in tables_of(request):
            if (fault := self._find_fault(table)) is not None:
                self._faults.note_failed_call(invocation.function)
                raise _refuse(fault, operation, request)

    def _find_fault(self, table: str) -> str | None:
        self._calls[table] += 1
        fault, until = self._outages.get(table, ("", timedelta(0)))
        if self._elapsed() < until:
            return fault
        for name in _ERRORS:
            part = self._faults.strike(name, f"{table} call {self._calls[table]}")
            if part is not None:
                until = self._elapsed() + timedelta(seconds=part * MAX_SECONDS)
                self._outages[table] = (name, until)
                return name
        return None


def tables_of(request: dict[str, Any]) -> list[str]:
    """Return the names of the tables that a request of DynamoDB reads or writes."""
    if "TransactItems" in request:
        found = [one["TableName"] for action in request["TransactItems"] for one in action.values()]
        return list(dict.fromkeys(found))
    return [request["TableName"]] if "TableName" in request else list(request["RequestItems"])


def _refuse(fault: str, operation: str, request: dict[str, Any]) -> AwsError:
    """Return the error. A throttled transaction is cancelled, and says so for each action."""
    code, status, reason = _ERRORS[fault]
    if reason is None or not operation.startswith("Transact"):
        return AwsError(code, f"injected {fault}", status=status)
    reasons = [{"Code": reason} for _ in request["TransactItems"]]
    message = "Transaction cancelled, please refer cancellation reasons for specific reasons"
    return AwsError("TransactionCanceledException", message, CancellationReasons=reasons)
