"""Sees every call that reaches AWS's place on the local stack, whose it is, and its answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from botocore.endpoint import Endpoint

from local.faults import short_name
from local.stack import Stack

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
def watched(
    stack: Stack, on_call: Callable[[Call], None], on_invoke: Callable[[str], None] | None = None
) -> Iterator[None]:
    """Stands around the faults' own hook, which is told neither the function nor the answer."""
    with _watched_functions(stack, on_invoke), _watched_endpoint(on_call):
        yield


@contextmanager
def _watched_functions(stack: Stack, on_invoke: Callable[[str], None] | None) -> Iterator[None]:
    real = stack.functions.invoke

    def invoke(function: str, event: Any) -> Any:
        name = short_name(function)
        if on_invoke is not None:
            on_invoke(name)
        token = _function.set(name)
        try:
            return real(function, event)
        finally:
            _function.reset(token)

    stack.functions.invoke = invoke  # type: ignore[method-assign]
    try:
        yield
    finally:
        stack.functions.invoke = real  # type: ignore[method-assign]


@contextmanager
def _watched_endpoint(on_call: Callable[[Call], None]) -> Iterator[None]:
    endpoint_class: Any = Endpoint  # its private method is not in the type stubs
    real = endpoint_class._do_get_response

    def observed(endpoint: Any, request: Any, operation: Any, context: Any) -> Any:
        answer = real(endpoint, request, operation, context)
        on_call(_call(request, operation, answer))
        return answer

    endpoint_class._do_get_response = observed
    try:
        yield
    finally:
        endpoint_class._do_get_response = real


def _call(request: Any, operation: Any, answer: Any) -> Call:
    response, _error = answer
    body = request.body or b"{}"
    return Call(
        function=_function.get(),
        service=operation.service_model.service_name,
        operation=operation.name,
        body=json.loads(body),
        reply=response[1] if response else {},
        size=len(body),
    )
