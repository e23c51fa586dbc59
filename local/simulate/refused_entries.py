"""Batches of which SQS takes some entries and refuses others."""

from __future__ import annotations

from collections import Counter

from local.simulate.faults import DrawnFaults
from local.simulate.functions import current_invocation
from local.testing.lean_aws.errors import AwsError


class RefusedEntries:
    def __init__(self, faults: DrawnFaults) -> None:
        self._faults = faults
        self._entries: Counter[str] = Counter()

    def check(self, queue: str) -> None:
        """Raise AwsError if SQS refuses the next entry for the queue."""
        invocation = current_invocation()
        if invocation is None:
            return
        self._entries[queue] += 1
        if self._faults.strike("refused-entry", f"{queue} entry {self._entries[queue]}") is None:
            return
        self._faults.note_failed_call(invocation.function)
        raise AwsError("InternalError", "injected refused-entry", status=500)
