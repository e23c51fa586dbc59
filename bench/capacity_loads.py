"""Measure what a task, an action, a failure and a chat message use, with full batches."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, TypeVar

from bench.actions import AT_ONCE, CHAT, CODE_ERROR, measure_actions
from bench.meter import Meter, Usage
from bench.partitions import Place, largest_shares, sum_by_place
from bench.prices import Pricing
from bench.reminders import measure_reminders
from bench.scenario import Batches, handle_burst, measured_stack
from local.runtime.api_gateway import Gateway, Request
from local.runtime.template import function_id, load_template, resources_of_type
from local.testing.faults import short_name

K = TypeVar("K")
REMINDERS = 200
FAILURES = 40
MESSAGES = 40
ACTIONS = 40
SCANNER = "scanner"
_CREATING = ("api", "authorizer")


@dataclass(frozen=True)
class Load:
    """What one unit of work uses, by function: seconds of Lambda, calls, requests and units.

    `written` and `read` are the units by table, index and kind of item, of all functions.
    `largest_shares`: the part that the busiest partition of a place has, without what the ticks of
    a schedule use, which does not grow with the work. `is_slow`: the worker gets it from the queue
    of slow work.
    """

    seconds: Mapping[str, float]
    requests: float
    bus_requests: float
    written: Mapping[Place, float]
    read: Mapping[Place, float] = field(default_factory=dict)
    largest_shares: Mapping[Place, float] = field(default_factory=dict)
    is_slow: bool = False

    def minus(self, other: Load) -> Load:
        return Load(
            _subtract(self.seconds, other.seconds),
            self.requests - other.requests,
            self.bus_requests - other.bus_requests,
            _subtract(self.written, other.written),
            _subtract(self.read, other.read),
            self.largest_shares,
        )


def measure_task(count: int = REMINDERS) -> Load:
    return _to_load(measure_reminders(count, batches=Batches.FULL), count)


def measure_delivery(count: int = REMINDERS) -> Load:
    """Return what a task uses that was created earlier."""
    meter = measure_reminders(count, batches=Batches.FULL)
    for function in _CREATING:
        meter.usage.pop(function, None)
    return _to_load(meter, count)


def measure_action() -> Load:
    """Return what an action of a program uses that names no sender and succeeds."""
    return replace(_to_load(measure_actions(ACTIONS, interval=AT_ONCE), ACTIONS), is_slow=True)


def measure_failure() -> Load:
    """Return what a failed attempt adds to an action from chat on a subject, with its retry."""
    how: dict[str, Any] = {"interval": AT_ONCE, "channel": CHAT, "has_subjects": True}
    failing = measure_actions(FAILURES, CODE_ERROR, **how)
    done = measure_actions(FAILURES, **how)
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
    template = load_template()
    pricing, scheduled = Pricing(template), scheduled_functions(template)
    functions = {name: one for name, one in meter.usage.items() if one.invocations}
    by_load = [one for name, one in functions.items() if name not in scheduled]
    return Load(
        {name: pricing.seconds(name, one) / count for name, one in functions.items()},
        sum(_invocations(functions, name) for name in ("api", "webhook")) / count,
        sum(one.calls["events.PutEvents"] for one in functions.values()) / count,
        _add_up([sum_by_place(one.written_to) for one in functions.values()], count),
        _add_up([sum_by_place(one.read_from) for one in functions.values()], count),
        largest_shares(one.written_to for one in by_load),
    )


def scheduled_functions(template: dict[str, Any]) -> set[str]:
    """Return the functions that a schedule starts, however much work there is."""
    rules = resources_of_type(template, "AWS::Events::Rule").values()
    timed = [target for one in rules if "ScheduleExpression" in one for target in one["Targets"]]
    return {short_name(function_id(target["Arn"])) for target in timed}


def _add_up(parts: Sequence[Mapping[Place, float]], count: int) -> dict[Place, float]:
    places = {place for part in parts for place in part}
    return {place: sum(part.get(place, 0) for part in parts) / count for place in places}


def _invocations(functions: Mapping[str, Usage], name: str) -> int:
    return functions[name].invocations if name in functions else 0


def _subtract(more: Mapping[K, float], less: Mapping[K, float]) -> dict[K, float]:
    return {name: more.get(name, 0) - less.get(name, 0) for name in {**more, **less}}
