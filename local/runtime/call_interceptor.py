"""Every call that a function makes passes here: it is counted, may be watched, and may fail.

AWS calls pass through botocore's endpoint, below its retries: each attempt on the wire is a call.
Calls to the outside (`channel.send`, ...) announce themselves.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders
from botocore.endpoint import Endpoint
from botocore.exceptions import ReadTimeoutError

from local.testing.faults import Crash, Fault, Faults, InjectedError

_function: ContextVar[str | None] = ContextVar("function", default=None)


@dataclass(frozen=True)
class Call:
    """`function` is None for the runtime's own calls: those of Lambda's pollers."""

    function: str | None
    service: str
    operation: str
    body: dict[str, Any]
    reply: dict[str, Any]
    size: int


@contextmanager
def calls_of(function: str) -> Iterator[None]:
    """Calls made inside belong to this function."""
    token = _function.set(function)
    try:
        yield
    finally:
        _function.reset(token)


class Calls:
    """`watch` sees each AWS call once it took effect, `listen` hears of every call beforehand, with
    the function that makes it; `latency` is what one takes, in seconds."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self.counts: Counter[tuple[str, str]] = Counter()
        self.watch: Callable[[Call], None] | None = None
        self.listen: Callable[[str, str], None] | None = None
        self.latency = 0.0

    @contextmanager
    def around(self, call: str) -> Iterator[None]:
        """An outside call: it fails before the block, or after it."""
        function = self._count(call)
        _fail_outside(self._faults.striking(function, call, "before"))
        yield
        _fail_outside(self._faults.striking(function, call, "after"))

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Stand between botocore and moto."""
        endpoint_class: Any = Endpoint  # its private method is not in the type stubs
        real = endpoint_class._do_get_response

        def passed(endpoint: Any, request: Any, operation: Any, context: Any) -> Any:
            return self._passed(
                lambda: real(endpoint, request, operation, context), request, operation
            )

        endpoint_class._do_get_response = passed
        try:
            yield
        finally:
            endpoint_class._do_get_response = real

    def _passed(self, send: Callable[[], Any], request: Any, operation: Any) -> Any:
        call = f"{operation.service_model.service_name}.{operation.name}"
        function = self._count(call)
        if function is not None and self.latency:
            time.sleep(self.latency)
        if fault := self._faults.striking(function, call, "before"):
            return _failed_reply(fault, request)
        answer = send()
        if self.watch is not None:
            self.watch(_call(function, request, operation, answer))
        if fault := self._faults.striking(function, call, "after"):
            return _failed_reply(fault, request)
        return answer

    def _count(self, call: str) -> str | None:
        function = _function.get()
        if function is not None:
            self.counts[function, call] += 1
            if self.listen is not None:
                self.listen(function, call)
        return function


def _call(function: str | None, request: Any, operation: Any, answer: Any) -> Call:
    response, _error = answer
    body = request.body or b"{}"
    return Call(
        function=function,
        service=operation.service_model.service_name,
        operation=operation.name,
        body=json.loads(body),
        reply=response[1] if response else {},
        size=len(body),
    )


def _fail_outside(fault: Fault | None) -> None:
    if fault is None:
        return
    if fault.kind == "crash":
        raise Crash
    raise InjectedError(fault)


def _failed_reply(fault: Fault, request: Any) -> Any:
    """What botocore sees of the failed call, in the form its endpoint reports."""
    if fault.kind == "crash":
        raise Crash
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
    response = AWSResponse(request.url, status, HTTPHeaders(), _NoBody())
    metadata = {"HTTPStatusCode": status, "HTTPHeaders": {}}
    return (response, {"Error": error, "ResponseMetadata": metadata}), None


class _NoBody:
    def stream(self, **_: Any) -> Iterator[bytes]:
        return iter(())
