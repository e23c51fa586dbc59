"""A team's own handler, with every phase: it switches lamps of the team's own system.

Each container has its own copy of this module, whose base class is that of the container.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from duecourse import Applied, Handler, IndeterminateError, NotApplied, ReconcileResult, RunContext

from local.runtime.call_interceptor import CallInterceptor
from local.simulate.outside_work import OutsideWork, choose_outcome

BUGS = ("prepare", "mutate")
FIRST_VERSION = "1"


class LampHandler(Handler):
    """`version` is that of the container's code: the first one has the bug a payload names."""

    payload_keys = ("bug", "outcomes")

    def __init__(self, work: OutsideWork, calls: CallInterceptor, version: str) -> None:
        self._work = work
        self._calls = calls
        self._version = version

    def check(self, payload: Mapping[str, Any]) -> None:
        if payload.get("bug") not in (None, *BUGS):
            raise ValueError("bug: must be prepare or mutate")

    def prepare(self, context: RunContext) -> Any:
        self._meet_bug("prepare", context)
        with self._calls.intercept("handler.prepare"):
            return self._work.acquire(context.idempotency_key)

    def release(self, context: RunContext) -> None:
        with self._calls.intercept("handler.release"):
            self._work.release(context.idempotency_key)

    def mutate(self, context: RunContext) -> Any:
        outcome = choose_outcome(context.task.payload.get("outcomes"), context.attempt)
        with self._calls.intercept_send("handler.mutate"):
            try:
                result = self._work.perform_as(outcome, context.idempotency_key, context.attempt)
            except RuntimeError as error:
                raise IndeterminateError(str(error)) from error
        self._meet_bug("mutate", context)
        return result

    def emit(self, context: RunContext) -> None:
        with self._calls.intercept("handler.emit"):
            self._work.emit(context.idempotency_key)

    def reconcile(self, context: RunContext) -> ReconcileResult:
        with self._calls.intercept("handler.reconcile"):
            is_done = self._work.is_performed(context.idempotency_key, context.attempt)
        return Applied("on") if is_done else NotApplied()

    def _meet_bug(self, phase: str, context: RunContext) -> None:
        if context.task.payload.get("bug") == phase and self._version == FIRST_VERSION:
            raise KeyError("lamp")
