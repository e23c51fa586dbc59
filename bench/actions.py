"""Measure the cost of a successful action and of one retry, for actions created over HTTP."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from bench.meter import Meter
from bench.reminders import MIN_DELAY, STARTS_AT
from local.runtime.api_gateway import Gateway, Request
from local.runtime.stack import DEFAULT_TOKEN, Stack
from local.runtime.template import load_template

COUNT = 50
_ERROR_ENTRY = {"error": {"message": "socket hang up", "code": "ECONNRESET"}}
_REPLY_ENTRY = {"reply": "The report is in the shared folder.\nACTION_OUTCOME: success"}


@dataclass(frozen=True)
class Cost:
    """Per action, over all functions, including its history and notifications."""

    write_units: float
    read_units: float
    sqs_requests: float

    def minus(self, other: Cost) -> Cost:
        return Cost(
            self.write_units - other.write_units,
            self.read_units - other.read_units,
            self.sqs_requests - other.sqs_requests,
        )


def measure_actions(count: int = COUNT) -> dict[str, Cost]:
    done = _measure(count, [_REPLY_ENTRY])
    return {
        "a successful action": done,
        "one retry of it": _measure(count, [_ERROR_ENTRY, _REPLY_ENTRY]).minus(done),
    }


def _measure(count: int, script: list[dict[str, Any]]) -> Cost:
    stack = Stack(is_clock_manual=True, starts_at=STARTS_AT)
    stack.start(log_level="CRITICAL")
    try:
        meter = Meter(load_template())
        with meter.observe(stack):
            paths = [_create(stack, n, script) for n in range(count)]
            stack.advance(MIN_DELAY + timedelta(hours=1))
        _check_runs(stack, paths, len(script))
    finally:
        stack.stop()
    spent = meter.usage.values()
    return Cost(
        sum(part.write_units for part in spent) / count,
        sum(part.read_units for part in spent) / count,
        sum(part.sqs_requests for part in spent) / count,
    )


def _create(stack: Stack, n: int, script: list[dict[str, Any]]) -> str:
    body = {
        "type": "action",
        "description": f"Put the weekly report into the shared folder ({n:04d})",
        # Spread out, because retries that wait for each other would cost differently.
        "in": (MIN_DELAY + timedelta(seconds=37 * n)).total_seconds(),
        "payload": {"provider": "scripted", "script": script},
    }
    created = _request(stack, "POST", "/tasks", json.dumps(body).encode())
    return f"/tasks/{created['id']}"


def _check_runs(stack: Stack, paths: list[str], runs: int) -> None:
    for path in paths:
        is_done = _request(stack, "GET", path)["status"] == "completed"
        if not is_done or len(_request(stack, "GET", f"{path}/runs")["items"]) != runs:
            raise RuntimeError(f"{path} did not end as expected, so nothing was measured")


def _request(stack: Stack, method: str, path: str, body: bytes = b"") -> Any:
    headers = {"content-type": "application/json", "authorization": f"Bearer {DEFAULT_TOKEN}"}
    reply = Gateway(stack).handle(Request(method, path, headers, body, "127.0.0.1"))
    if reply.status not in (200, 201):
        raise RuntimeError(f"{method} {path} answered {reply.status}: {reply.body!r}")
    return json.loads(reply.body)
