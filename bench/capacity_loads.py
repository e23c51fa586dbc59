"""Measure what one task, one failure and one chat message use, with full batches as under load."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from bench.actions import AT_ONCE, CHAT, CODE_ERROR, measure_actions
from bench.meter import Meter, Usage
from bench.prices import Pricing
from bench.reminders import measure_reminders
from bench.scenario import Batches, handle_burst, measured_stack
from local.runtime.api_gateway import Gateway, Request
from local.runtime.template import load_template

REMINDERS = 200
FAILURES = 40
MESSAGES = 40
SCANNER = "scanner"


@dataclass(frozen=True)
class Load:
    """What one unit of work uses, by function: seconds of Lambda, calls, requests and units.

    `written` are the write units by kind of item and index, of all functions. `is_slow`: the worker
    gets it from the queue of slow work.
    """

    seconds: Mapping[str, float]
    requests: float
    bus_requests: float
    written: Mapping[str, float]
    is_slow: bool = False

    def minus(self, other: Load) -> Load:
        return Load(
            _subtract(self.seconds, other.seconds),
            self.requests - other.requests,
            self.bus_requests - other.bus_requests,
            _subtract(self.written, other.written),
        )


def measure_task(count: int = REMINDERS) -> Load:
    return _to_load(measure_reminders(count, batches=Batches.FULL), count)


def measure_failure() -> Load:
    """Return what a failed attempt adds to an action from chat, with its retry."""
    failing = measure_actions(FAILURES, CODE_ERROR, interval=AT_ONCE, channel=CHAT)
    done = measure_actions(FAILURES, interval=AT_ONCE, channel=CHAT)
    return replace(_to_load(failing, FAILURES).minus(_to_load(done, FAILURES)), is_slow=True)


def measure_message() -> Load:
    """Return what a chat message uses that creates a reminder."""
    senders = [f"U{n}" for n in range(MESSAGES)]
    with measured_stack(Batches.FULL) as (stack, meter), meter.observe(stack):
        handle_burst(stack, lambda gateway: _say_all(gateway, senders))
        stack.advance(timedelta(seconds=5))
    load = _to_load(meter, MESSAGES)
    # A tick of the scanner fell into that time, without anything to send.
    return replace(load, seconds={name: s for name, s in load.seconds.items() if name != SCANNER})


def _say_all(gateway: Gateway, senders: Sequence[str]) -> None:
    for sender in senders:
        _say(gateway, sender)


def _say(gateway: Gateway, sender: str) -> None:
    message = {"sender_id": sender, "reply_target": sender, "text": "/remind in 3h stretch"}
    body = json.dumps(message)
    headers = {"content-type": "application/json"}
    path = "/webhooks/console"
    reply = gateway.handle(Request("POST", path, headers, body.encode(), "127.0.0.1"))
    if reply.status != 200:
        raise RuntimeError(f"POST {path} answered {reply.status}: {reply.body!r}")


def _to_load(meter: Meter, count: int) -> Load:
    pricing = Pricing(load_template())
    functions = {name: one for name, one in meter.usage.items() if one.invocations}
    written: dict[str, float] = {}
    for usage in meter.usage.values():
        for kind, units in usage.written.items():
            written[kind] = written.get(kind, 0) + units / count
    return Load(
        {name: pricing.seconds(name, one) / count for name, one in functions.items()},
        sum(_invocations(functions, name) for name in ("api", "webhook")) / count,
        sum(one.calls["events.PutEvents"] for one in functions.values()) / count,
        written,
    )


def _invocations(functions: Mapping[str, Usage], name: str) -> int:
    return functions[name].invocations if name in functions else 0


def _subtract(more: Mapping[str, float], less: Mapping[str, float]) -> dict[str, Any]:
    return {name: more.get(name, 0) - less.get(name, 0) for name in {**more, **less}}
