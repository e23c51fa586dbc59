"""Faults: the nth call of its kind fails, before it reached the service or after it took effect.

AWS calls pass through botocore's endpoint, below its retries: each attempt on the wire is a call.
Calls to the outside (`channel.send`, ...) announce themselves.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders
from botocore.endpoint import Endpoint
from botocore.exceptions import ReadTimeoutError
from duecourse.domain.fields import Fields, one_of, text, whole_number

_mine = threading.local()
_MOST = 1_000_000
_FIELDS = {"function", "when", "call", "nth", "times", "kind", "error"}


class Crash(BaseException):
    """Ends an invocation as a killed Lambda ends: no handler of exceptions sees it."""


class InjectedError(Exception):
    """An outside call answered with an error, or not at all."""


@dataclass
class Fault:
    call: str
    function: str | None = None
    when: str = "before"
    nth: int = 1
    times: int = 1
    kind: str = "crash"
    error: Mapping[str, Any] = field(default_factory=dict)
    seen: int = 0

    def strikes(self, function: str | None, call: str, when: str) -> bool:
        if call != self.call or when != self.when or self.function not in (None, function):
            return False
        self.seen += 1
        return self.nth <= self.seen < self.nth + self.times


def fault_from_request(raw: Mapping[str, Any]) -> Fault:
    """Raises InvalidFieldsError naming every field that is wrong."""
    fields = Fields(raw, known=_FIELDS)
    if not fields.has("call"):
        fields.refuse("call", "is required, for example dynamodb.PutItem or channel.send")
    fault = Fault(
        call=fields.read("call", text(100), ""),
        function=fields.read("function", lambda value: short_name(text(100)(value)), None),
        when=fields.read("when", one_of({"before", "after"}), "before"),
        nth=fields.read("nth", whole_number(1, _MOST), 1),
        times=fields.read("times", whole_number(1, _MOST), 1),
        kind=fields.read("kind", one_of({"crash", "throttle", "timeout", "error"}), "crash"),
        error=fields.read("error", _error, {}),
    )
    fields.check()
    return fault


def short_name(function: str) -> str:
    """`WorkerFunction` and `worker` are the same function."""
    return function.removesuffix("Function").lower()


@contextmanager
def calls_of(function: str) -> Iterator[None]:
    """Calls made inside belong to this function."""
    _mine.function = function
    try:
        yield
    finally:
        _mine.function = None


class Faults:
    """The faults in wait, and the calls seen so far by function."""

    def __init__(self) -> None:
        self._waiting: list[Fault] = []
        self.calls: Counter[tuple[str, str]] = Counter()
        self.watch: Callable[[str, Any], None] | None = None
        self.latency = 0.0  # seconds that each AWS call of a function takes on the local clock

    def wait_for(self, function: str) -> bool:
        """A fault is still to strike in this function: each of its calls counts."""
        name = short_name(function)
        return any(
            fault.function in (None, name) and fault.seen < fault.nth + fault.times - 1
            for fault in self._waiting
        )

    def add(self, fault: Fault) -> None:
        self._waiting.append(fault)

    def clear(self) -> None:
        self._waiting.clear()

    @contextmanager
    def around(self, call: str) -> Iterator[None]:
        """An outside call: it fails before the block, or after it."""
        function = self._count(call)
        self._strike_outside(function, call, "before")
        yield
        self._strike_outside(function, call, "after")

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Stand between botocore and moto."""
        endpoint_class: Any = Endpoint  # its private method is not in the type stubs
        real = endpoint_class._do_get_response

        def watched(endpoint: Any, request: Any, operation: Any, context: Any) -> Any:
            return self._aws_call(real, endpoint, request, operation, context)

        endpoint_class._do_get_response = watched
        try:
            yield
        finally:
            endpoint_class._do_get_response = real

    def _aws_call(self, real: Any, endpoint: Any, request: Any, operation: Any, ctx: Any) -> Any:
        call = f"{operation.service_model.service_name}.{operation.name}"
        function = self._count(call)
        if function is not None and self.latency:
            time.sleep(self.latency)
        for fault in self._striking(function, call, "before"):
            return _failed_reply(fault, request)
        reply = real(endpoint, request, operation, ctx)
        if self.watch is not None and function is not None:
            self.watch(call, request)
        for fault in self._striking(function, call, "after"):
            return _failed_reply(fault, request)
        return reply

    def _count(self, call: str) -> str | None:
        function: str | None = getattr(_mine, "function", None)
        if function is not None:
            self.calls[function, call] += 1
        return function

    def _strike_outside(self, function: str | None, call: str, when: str) -> None:
        for fault in self._striking(function, call, when):
            if fault.kind == "crash":
                raise Crash
            raise InjectedError(fault.error.get("message", f"injected {fault.kind}"))

    def _striking(self, function: str | None, call: str, when: str) -> list[Fault]:
        """Only what functions do can fail: the runtime's own calls are not theirs."""
        if function is None:
            return []
        return [fault for fault in self._waiting if fault.strikes(function, call, when)]


def _failed_reply(fault: Fault, request: Any) -> Any:
    """What botocore sees of the failed call, in the form its endpoint reports."""
    if fault.kind == "crash":
        raise Crash
    if fault.kind == "timeout":
        return None, ReadTimeoutError(endpoint_url=request.url)
    code = "ThrottlingException" if fault.kind == "throttle" else "InternalServerError"
    status = int(fault.error.get("status") or (400 if fault.kind == "throttle" else 500))
    error = {
        "Code": str(fault.error.get("code") or code),
        "Message": str(fault.error.get("message") or f"injected {fault.kind}"),
    }
    metadata = {"HTTPStatusCode": status, "HTTPHeaders": {}}
    response = AWSResponse(request.url, status, HTTPHeaders(), _NoBody())
    return (response, {"Error": error, "ResponseMetadata": metadata}), None


class _NoBody:
    def stream(self, **_: Any) -> Iterator[bytes]:
        return iter(())


def _error(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("must be an object with message, code, status")
    return value
