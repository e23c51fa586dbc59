"""Run a scenario on a local stack while a meter counts what it uses."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, TypeVar

from duecourse.domain.events.rule_patterns import SOURCE

from bench.meter import Meter
from local.runtime import aws_clients, schedules
from local.runtime.api_gateway import Gateway, Request
from local.runtime.stack import DEFAULT_TOKEN, Stack
from local.runtime.template import load_template, resources_of_type

T = TypeVar("T")
STACK_NAME = "duecourse"  # the local stack's, and its event bus's
STARTS_AT = datetime(2026, 2, 17, 12, tzinfo=UTC)
# On AWS a schedule ticks at any fraction of a second. The mean decides how long a worker sleeps
# before the due time, because SQS delays messages by whole seconds.
TICK_PHASE = timedelta(milliseconds=500)


class Batches(StrEnum):
    """How many records the event sources hand over at once."""

    OF_ONE = "batches of one"
    AS_THEY_COME = "batches as they come"
    FULL = "full batches"


@dataclass(frozen=True)
class Posted:
    """A request that creates a task."""

    body: Mapping[str, Any]
    idempotency_key: str


@contextmanager
def measured_stack(batches: Batches = Batches.AS_THEY_COME) -> Iterator[tuple[Stack, Meter]]:
    """Yield a new stack and a meter for it.

    Raises at the end if an invocation failed or a request was not counted.
    """
    template = make_template(batches)
    stack = Stack(is_clock_manual=True, starts_at=STARTS_AT, template=template)
    stack.waits_for_batches = batches is Batches.FULL
    with _shifted_ticks():
        stack.start(log_level="CRITICAL")
        try:
            meter = Meter(template)
            yield stack, meter
        finally:
            stack.stop()
    meter.check_complete()


def make_template(batches: Batches) -> dict[str, Any]:
    template = load_template()
    if batches is Batches.OF_ONE:
        template = deepcopy(template)
        for mapping in resources_of_type(template, "AWS::Lambda::EventSourceMapping").values():
            mapping["BatchSize"] = 1
    return template


def create_tasks(stack: Stack, posted: Sequence[Posted], batches: Batches) -> list[str]:
    """Create tasks over HTTP and return their ids.

    For full batches all are created before anything else runs, as in a burst of requests.
    """
    if batches is not Batches.FULL:
        gateway = Gateway(stack)
        return [_create(gateway, one) for one in posted]
    return handle_burst(stack, lambda gateway: [_create(gateway, one) for one in posted])


def handle_burst(stack: Stack, send: Callable[[Gateway], T]) -> T:
    """Handle all requests that `send` makes before anything that they trigger runs."""

    def invoke(function: str, event: Any, *, wait_until_idle: bool = False) -> Any:
        del wait_until_idle
        return stack.functions.invoke(function, event)

    settling = stack.invoke
    stack.invoke = invoke  # type: ignore[method-assign]
    try:
        gateway = Gateway(stack)
        return stack.scheduler.call(lambda: send(gateway))
    finally:
        stack.invoke = settling  # type: ignore[method-assign]


def add_bus_rule() -> None:
    """Add a rule to the event bus that matches all events of tasks."""
    pattern = json.dumps({"source": [SOURCE]})
    aws_clients.client("events").put_rule(
        Name="everything", EventBusName=STACK_NAME, EventPattern=pattern, State="ENABLED"
    )


def request(
    gateway: Gateway, method: str, path: str, body: Any = None, **headers: str
) -> dict[str, Any]:
    """Return the JSON body of a successful reply."""
    sent = {"content-type": "application/json", "authorization": f"Bearer {DEFAULT_TOKEN}"}
    raw = json.dumps(body).encode() if body is not None else b""
    reply = gateway.handle(Request(method, path, sent | headers, raw, "127.0.0.1"))
    if reply.status not in (200, 201):
        raise RuntimeError(f"{method} {path} answered {reply.status}: {reply.body!r}")
    return dict(json.loads(reply.body))


def _create(gateway: Gateway, posted: Posted) -> str:
    # The key gives the same ids, hence the same shards, in every run.
    headers = {"idempotency-key": posted.idempotency_key}
    return str(request(gateway, "POST", "/tasks", posted.body, **headers)["id"])


@contextmanager
def _shifted_ticks() -> Iterator[None]:
    first = schedules.FIRST_TICK
    schedules.FIRST_TICK = first + TICK_PHASE
    try:
        yield
    finally:
        schedules.FIRST_TICK = first
