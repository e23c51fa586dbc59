"""Intercept every call that a function makes, to count it, observe it, or make it fail.

AWS calls are intercepted in botocore's endpoint, below its retries, so each attempt counts as a
call. Calls to other services (`channel.send`, ...) use `intercept`.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl

from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders
from botocore.endpoint import Endpoint
from botocore.exceptions import ReadTimeoutError
from duecourse.app import queues
from duecourse.domain.origin import Effect

from local.testing.faults import Fault, Faults, InjectedError, SimulatedCrash

_DYNAMODB_READS = frozenset({"GetItem", "BatchGetItem", "Query", "Scan", "DescribeTable"})
_RULE_CHANGES = frozenset(f"events.{name}Rule" for name in ("Put", "Delete", "Enable", "Disable"))
_current_function: ContextVar[str | None] = ContextVar("function", default=None)


@dataclass(frozen=True)
class Call:
    """One AWS call. `function` is None for the runtime's own calls, such as Lambda's pollers."""

    function: str | None
    service: str
    operation: str
    raw_bytes: bytes
    is_form: bool
    reply: dict[str, Any]

    @cached_property
    def body(self) -> dict[str, Any]:
        if self.is_form:
            return dict(parse_qsl(self.raw_bytes.decode()))
        parsed: dict[str, Any] = json.loads(self.raw_bytes)
        return parsed

    @property
    def size(self) -> int:
        return len(self.raw_bytes)


@contextmanager
def attribute_calls_to(function: str) -> Iterator[None]:
    """Attribute the calls made inside the block to `function`."""
    token = _current_function.set(function)
    try:
        yield
    finally:
        _current_function.reset(token)


def current_function() -> str | None:
    """Return the function that runs in this thread, or None for the runtime itself."""
    return _current_function.get()


class CallInterceptor:
    """`before_call` receives every call of a function, `on_aws_call` each AWS call afterwards.

    `latency` is added to each AWS call of a function, in seconds. `change_count` counts the writes
    to DynamoDB, of functions and others.
    """

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self.counts: Counter[tuple[str, str]] = Counter()
        self.change_count = 0
        self.on_aws_call: Callable[[Call], None] | None = None
        self.before_call: Callable[[str, str], None] | None = None
        self.latency = 0.0

    @contextmanager
    def intercept(self, call: str) -> Iterator[None]:
        """Wrap an external call. An injected fault raises before or after the block."""
        function = self._count(call)
        _raise_fault(self._faults.match(function, call, "before"))
        yield
        _raise_fault(self._faults.match(function, call, "after"))

    @contextmanager
    def intercept_send(self, call: str) -> Iterator[None]:
        """Wrap an external call that has an effect, such as a message.

        As with the real clients, a response that is lost after the call leaves its effect unknown.
        An injected error with a status is a response.
        """
        was_sent = False
        try:
            with self.intercept(call):
                yield
                was_sent = True
        except InjectedError as error:
            is_lost = was_sent and error.status is None
            error.effect = Effect.UNKNOWN if is_lost else Effect.NONE
            raise

    @contextmanager
    def install(self) -> Iterator[None]:
        """Patch botocore's endpoint, above moto."""
        endpoint_class: Any = Endpoint  # a private method, missing in the type stubs
        real = endpoint_class._do_get_response

        def intercepted(endpoint: Any, request: Any, operation: Any, context: Any) -> Any:
            return self._intercept_aws_call(
                lambda: real(endpoint, request, operation, context), request, operation
            )

        endpoint_class._do_get_response = intercepted
        try:
            yield
        finally:
            endpoint_class._do_get_response = real

    def _intercept_aws_call(self, send: Callable[[], Any], request: Any, operation: Any) -> Any:
        call = f"{operation.service_model.service_name}.{operation.name}"
        function = self._count(call)
        if function is not None and self.latency:
            time.sleep(self.latency)
        if fault := self._faults.match(function, call, "before"):
            return _fault_response(fault, request)
        if call.startswith("dynamodb.") and operation.name not in _DYNAMODB_READS:
            self.change_count += 1
        answer = send()
        if call in _RULE_CHANGES:
            queues.event_bus.cache_clear()  # on AWS, a new rule gets events a few seconds later
        if self.on_aws_call is not None:
            self.on_aws_call(_to_call(function, request, operation, answer))
        if fault := self._faults.match(function, call, "after"):
            return _fault_response(fault, request)
        return answer

    def _count(self, call: str) -> str | None:
        function = _current_function.get()
        if function is not None:
            self.counts[function, call] += 1
            if self.before_call is not None:
                self.before_call(function, call)
        return function


def _to_call(function: str | None, request: Any, operation: Any, answer: Any) -> Call:
    response, _error = answer
    body = request.body or b"{}"
    return Call(
        function=function,
        service=operation.service_model.service_name,
        operation=operation.name,
        raw_bytes=body.encode() if isinstance(body, str) else body,
        is_form=operation.service_model.protocol == "query",
        reply=response[1] if response else {},
    )


def _raise_fault(fault: Fault | None) -> None:
    if fault is None:
        return
    if fault.kind == "crash":
        raise SimulatedCrash
    raise InjectedError(fault)


def _fault_response(fault: Fault, request: Any) -> Any:
    """Return a failed call in the form that botocore's endpoint returns."""
    if fault.kind == "crash":
        raise SimulatedCrash
    if fault.kind == "timeout":
        return None, ReadTimeoutError(endpoint_url=request.url)
    code, status = ("ThrottlingException", 400)
    if fault.kind == "error":
        code, status = ("InternalServerError", 500)
    error = {
        "Code": str(fault.error.get("code") or code),
        "Message": str(fault.error.get("message") or f"injected {fault.kind}"),
    }
    status = int(fault.error.get("status") or status)
    response = AWSResponse(request.url, status, HTTPHeaders(), _EmptyBody())
    metadata = {"HTTPStatusCode": status, "HTTPHeaders": {}}
    return (response, {"Error": error, "ResponseMetadata": metadata}), None


class _EmptyBody:
    def stream(self, **_: Any) -> Iterator[bytes]:
        return iter(())
