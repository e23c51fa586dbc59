"""Record invocations of the local stack with AWS's answers, to replay them without the stack.

A replay needs no knowledge of the code: whatever calls the functions make are answered as moto
answered them.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from duecourse.domain.time.instant import to_text

from bench.actions import MIN_DELAY, NETWORK_ERROR, make_action
from bench.loopback import answer_key
from bench.scan import SCANNER, seed
from bench.scenario import STARTS_AT, Batches, Posted, create_tasks
from local.runtime.call_interceptor import Call
from local.runtime.functions import Functions
from local.runtime.stack import CUSTOM_HANDLERS_MODULE, Stack

# As many as the reference has blocks of calls, and more: both are measured warm.
ROUNDS = 40
DELIVERED_AT_ONCE = 10
SCANNED = 400
_MINUTE = timedelta(minutes=1)
_FAILURE_ENDS = timedelta(seconds=20)  # before the retry is due
_TARGETS = {
    "dynamodb": "DynamoDB_20120810",
    "sqs": "AmazonSQS",
    "events": "AWSEvents",
    "secretsmanager": "secretsmanager",
}
Mark = Callable[[str], None]
Step = Callable[[Stack, int, Mark], None]
_current: ContextVar[Invocation | None] = ContextVar("invocation", default=None)


@dataclass
class Invocation:
    """One invocation: its event, the time, and the answers to its calls as key, status and body.

    `step` is empty for an invocation that belongs to none. Each step is repeated in rounds.
    """

    function: str
    event: Any
    at: str
    step: str = ""
    round: int = 0
    answers: list[tuple[str, int, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Recording:
    environment: dict[str, str]
    invocations: list[Invocation]

    def to_json(self) -> str:
        return json.dumps(asdict(self), default=_encode)


def record() -> Recording:
    """Return invocations of the steps create, scan, deliver, fail and retry, several of each."""
    stack = Stack(is_clock_manual=True, starts_at=STARTS_AT)
    stack.start(log_level="CRITICAL")
    try:
        with _recorded(stack) as invocations:
            for step in (_deliver, _fail_and_retry):
                _repeat(step, stack, invocations)
            _scan(stack)
            scan = next(one for one in reversed(invocations) if one.function == SCANNER)
            # A scan keeps nothing in memory, so the same one can be replayed.
            scans = [replace(scan, step="scan", round=n + 1) for n in range(ROUNDS)]
        return Recording(_environment(stack.functions), [*invocations, *scans])
    finally:
        stack.stop()


def _deliver(stack: Stack, n: int, mark: Mark) -> None:
    due_at = stack.clock.now() + 5 * _MINUTE
    body = {"type": "reminder", "channel": "console", "sender_id": f"U{n}", "reply_target": "C"}
    posted = [
        Posted({**body, "description": f"Call {n} {m}", "due_at": to_text(due_at)}, f"{n} {m}")
        for m in range(DELIVERED_AT_ONCE)
    ]
    create_tasks(stack, posted, Batches.FULL)
    stack.scheduler.wait_until_idle()
    mark("create")
    stack.advance(6 * _MINUTE)
    mark("deliver")


def _fail_and_retry(stack: Stack, n: int, mark: Mark) -> None:
    script: list[dict[str, Any]] = [
        {"error": NETWORK_ERROR},
        {"reply": "Done.\nACTION_OUTCOME: success"},
    ]
    create_tasks(stack, [make_action(n, script, timedelta(0))], Batches.AS_THEY_COME)
    stack.advance(MIN_DELAY - timedelta(seconds=1))
    mark("")
    stack.advance(_FAILURE_ENDS)
    mark("fail")
    stack.advance(2 * _MINUTE)
    mark("retry")


def _scan(stack: Stack) -> None:
    """Scan the tasks of a minute in which many tasks are due."""
    next_minute = stack.clock.now().replace(second=0, microsecond=0) + _MINUTE
    stack.advance(next_minute + _MINUTE / 2 - stack.clock.now())  # between two ticks
    first_due_at = stack.clock.now() + _MINUTE
    seed(stack, SCANNED, first_due_at=first_due_at, interval=timedelta(0))
    reply = stack.scheduler.call(lambda: stack.functions.invoke(SCANNER, {}))
    if reply["dispatched"] != SCANNED:
        raise RuntimeError(f"the scan sent {reply['dispatched']} of {SCANNED} tasks")


def _repeat(step: Step, stack: Stack, invocations: list[Invocation]) -> None:
    for n in range(ROUNDS):

        def mark(name: str, n: int = n) -> None:
            """Assign the invocations since the last mark."""
            for one in reversed(invocations):
                if one.round:
                    break
                one.step, one.round = name, n + 1

        step(stack, n, mark)


@contextmanager
def _recorded(stack: Stack) -> Iterator[list[Invocation]]:
    invocations: list[Invocation] = []
    invoke = stack.functions.invoke

    def invoke_and_record(function: str, event: Any) -> Any:
        one = Invocation(function, event, to_text(stack.clock.now()))
        invocations.append(one)
        token = _current.set(one)
        try:
            return invoke(function, event)
        finally:
            _current.reset(token)

    stack.functions.invoke = invoke_and_record  # type: ignore[method-assign]
    stack.calls.on_aws_call = _record_answer
    try:
        yield invocations
    finally:
        stack.functions.invoke = invoke  # type: ignore[method-assign]
        stack.calls.on_aws_call = None


def _record_answer(call: Call) -> None:
    if (one := _current.get()) is None:
        return
    reply = {name: value for name, value in call.reply.items() if name != "ResponseMetadata"}
    status = 200
    if error := reply.pop("Error", None):
        status = 400
        reply |= {"__type": f"aws#{error['Code']}", "message": error["Message"]}
    target = f"{_TARGETS[call.service]}.{call.operation}"
    one.answers.append((answer_key(target, call.body), status, json.dumps(reply, default=_encode)))


def _environment(functions: Functions) -> dict[str, str]:
    """Return the functions' settings on AWS, where they differ from the local stack's."""
    names = functions.environment()
    found = {name: os.environ[name] for name in names if name in os.environ}  # noqa: TID251
    return found | {
        "HANDLERS_MODULE": CUSTOM_HANDLERS_MODULE,
        "POWERTOOLS_LOG_LEVEL": "INFO",
        "SCANNER_THREADS": str(names["SCANNER_THREADS"]),
        "PROVIDERS": "",
        "CHANNELS": "",
    }


def _encode(value: Any) -> Any:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, datetime):
        return value.timestamp()
    return str(value)
