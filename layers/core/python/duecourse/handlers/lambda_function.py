"""Work done by another Lambda function: type `lambda`, and custom types with remote phases."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from duecourse.domain.errors import DuecourseError, LeaseLostError, NotConfiguredError
from duecourse.domain.origin import Origin
from duecourse.domain.requests.json import task_to_json
from duecourse.domain.tasks.handler import (
    ATTEMPT_TIMEOUT,
    Applied,
    Handler,
    NotApplied,
    ReconcileResult,
    RunContext,
    Unknown,
)
from duecourse.domain.text.redact_json import redact_json
from duecourse.domain.validation.fields import choice_field, integer_field
from duecourse.domain.validation.payload_keys import parse_named, read_key
from duecourse.ports.integrations import Invoker
from duecourse.ports.runtime import Clock

DEFAULT_TIMEOUT = 30
MAX_TIMEOUT = int(ATTEMPT_TIMEOUT.total_seconds())
MIN_TIME_LEFT = timedelta(seconds=1)
PHASES = frozenset({"prepare", "mutate", "emit", "reconcile"})


class InvalidReconcileResultError(DuecourseError):
    """A function answered `reconcile` with something else than an `applied` object."""

    type = "BadFinding"
    code = "bad_finding"
    origin = Origin.LOGIC

    def __init__(self, function: str) -> None:
        super().__init__(f'{function} must answer "reconcile" with {{"applied": true|false|null}}')


@dataclass(frozen=True)
class LambdaHandler(Handler):
    """Type `lambda`: invoke the function that the payload names, if it is allowed."""

    invoker: Invoker
    clock: Clock
    allowed_functions: frozenset[str]
    payload_keys = ("function", "input", "timeout")

    def check(self, payload: Mapping[str, Any]) -> None:
        parse_named("function", payload.get("function"), choice_field(self.allowed_functions))
        read_key(payload, "timeout", integer_field(1, MAX_TIMEOUT), DEFAULT_TIMEOUT)

    def mutate(self, context: RunContext) -> Any:
        payload = context.task.payload
        function = payload.get("function")
        if not isinstance(function, str) or function not in self.allowed_functions:
            raise NotConfiguredError("function", function)
        request = {
            "input": payload.get("input"),
            "task_id": context.task.id,
            "key": context.idempotency_key,
            "attempt": context.attempt,
        }
        requested_timeout = timedelta(seconds=payload.get("timeout", DEFAULT_TIMEOUT))
        timeout = _time_left(context, requested_timeout, self.clock)
        return redact_json(_invoke(self.invoker, function, request, timeout))


class RemoteHandler(Handler):
    """A custom type whose phases another function runs. Create it with `remote_handler`."""

    def __init__(
        self,
        function: str,
        invoker: Invoker,
        clock: Clock,
        *,
        timeout: timedelta = timedelta(seconds=DEFAULT_TIMEOUT),
        idempotent: bool = False,
    ) -> None:
        self.function = function
        self.invoker = invoker
        self.clock = clock
        self.timeout = timeout
        self.idempotent = idempotent

    def mutate(self, context: RunContext) -> Any:
        return self.call_phase("mutate", context)

    def call_phase(self, phase: str, context: RunContext) -> Any:
        request = {
            "phase": phase,
            # The function does the work, so it gets the payload as it is.
            "task": {**task_to_json(context.task), "payload": dict(context.task.payload)},
            "key": context.idempotency_key,
            "attempt": context.attempt,
            "prepared": context.prepared,
            "result": context.result,
        }
        timeout = _time_left(context, self.timeout, self.clock)
        return _invoke(self.invoker, self.function, request, timeout)


def remote_handler(
    function: str,
    invoker: Invoker,
    clock: Clock,
    *,
    phases: frozenset[str] = PHASES,
    **options: Any,
) -> RemoteHandler:
    """Return a handler that overrides only `phases`; the engine sees from this which phases exist.

    `options` are those of RemoteHandler: `timeout` and `idempotent`.
    """
    if "mutate" not in phases or not phases <= PHASES:
        raise ValueError(f"phases: must be mutate, with or without others of {sorted(PHASES)}")
    methods = {name: method for name, method in _OPTIONAL_PHASES.items() if name in phases}
    handler_class: type[RemoteHandler] = type("RemoteHandler", (RemoteHandler,), methods)
    return handler_class(function, invoker, clock, **options)


def _prepare(handler: RemoteHandler, context: RunContext) -> Any:
    return handler.call_phase("prepare", context)


def _emit(handler: RemoteHandler, context: RunContext) -> None:
    handler.call_phase("emit", context)


def _reconcile(handler: RemoteHandler, context: RunContext) -> ReconcileResult:
    match handler.call_phase("reconcile", context):
        case {"applied": True, **more}:
            return Applied(more.get("result"))
        case {"applied": False}:
            return NotApplied()
        case {"applied": None}:
            return Unknown()
    raise InvalidReconcileResultError(handler.function)


_OPTIONAL_PHASES: dict[str, Callable[[RemoteHandler, RunContext], Any]] = {
    "prepare": _prepare,
    "emit": _emit,
    "reconcile": _reconcile,
}


def _invoke(invoker: Invoker, function: str, request: Any, timeout: timedelta) -> Any:
    body = json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode()
    return json.loads(invoker.invoke(function, body, timeout=timeout))


def _time_left(context: RunContext, requested_timeout: timedelta, clock: Clock) -> timedelta:
    """Return the timeout, capped by the deadline. Raises LeaseLostError if too little is left.

    A function still running when the lease expires could not be told from a lost one.
    """
    time_left = min(requested_timeout, context.deadline - clock.now())
    if time_left < MIN_TIME_LEFT:
        raise LeaseLostError(context.task.short_id)
    return time_left
