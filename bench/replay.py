"""Replay a recording against the loopback server and measure the CPU time of this process.

Run as `python -m bench.replay RECORDING PORT RESULT`. The functions are the real ones, with real
botocore. Chat platforms and providers, which AWS does not run, answer at once and without HTTP.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.request import urlopen

import boto3
import time_machine
from duecourse.app import registry

from local.runtime.call_interceptor import CallInterceptor
from local.testing.faults import Faults, short_name
from local.testing.scripted_provider import ScriptedProvider

_REFERENCE_CALLS = 300
_REFERENCE_BLOCK = 20


class SilentChannel:
    def send(self, target: str, content: object, *, idempotency_key: str) -> None:
        """Accept the message."""

    def reply(self, message: object, content: object) -> None:
        """Accept the reply."""


def main() -> None:
    recording_file, port, result_file = sys.argv[1:]
    recording = json.loads(Path(recording_file).read_text(encoding="utf-8"))
    registry.register_channel("console", SilentChannel())
    registry.register_provider("scripted", ScriptedProvider(CallInterceptor(Faults())))
    before = measure_reference()
    steps = replay(recording["invocations"], int(port))
    reference = statistics.median([*before, *measure_reference()])
    result = {"reference_seconds": reference, "steps": steps}
    Path(result_file).write_text(json.dumps(result), encoding="utf-8")


def replay(invocations: list[dict[str, Any]], port: int) -> list[dict[str, Any]]:
    """Return step, round, function, seconds of CPU and AWS calls of each invocation."""
    names = ("step", "round", "function")
    return [
        {**{name: one[name] for name in names}, **_invoke(number, one, port)}
        for number, one in enumerate(invocations)
        if one["step"]
    ]


def _invoke(number: int, one: dict[str, Any], port: int) -> dict[str, Any]:
    function = short_name(one["function"])
    handler = import_module(f"functions.{function}.app").handler
    _select(number, port)
    with time_machine.travel(one["at"]):
        started = time.process_time()
        handler(one["event"], _context(function))
        seconds = time.process_time() - started
    return {"seconds": seconds, "calls": _select(number, port)}


def measure_reference() -> list[float]:
    """Return the CPU seconds of one conditional `update_item`, as blocks of calls measured it."""
    client = boto3.client("dynamodb")
    request = {
        "TableName": "benchmark",
        "Key": {"short_id": {"S": "0123abcd"}, "id": {"S": "0123abcd-0000-4000-8000-000000000000"}},
        "UpdateExpression": "SET #s = :s, #v = :v, #l = :l REMOVE #d",
        "ConditionExpression": "#v = :o",
        "ExpressionAttributeNames": {"#s": "status", "#v": "version", "#l": "lease", "#d": "due"},
        "ExpressionAttributeValues": {
            ":s": {"S": "in_progress"},
            ":v": {"N": "2"},
            ":o": {"N": "1"},
            ":l": {"S": "2026-02-17T12:01:30.000Z"},
        },
    }
    return _measure_blocks(lambda: client.update_item(**request))


def _measure_blocks(call: Callable[[], object]) -> list[float]:
    blocks = []
    for _ in range(_REFERENCE_CALLS // _REFERENCE_BLOCK):
        started = time.process_time()
        for _ in range(_REFERENCE_BLOCK):
            call()
        blocks.append((time.process_time() - started) / _REFERENCE_BLOCK)
    return blocks[1:]  # the first block opens the connection


def _select(number: int, port: int) -> int:
    with urlopen(f"http://127.0.0.1:{port}/invocation/{number}") as reply:
        return int(reply.read())


def _context(function: str) -> Any:
    return SimpleNamespace(
        function_name=function,
        function_version="$LATEST",
        memory_limit_in_mb=512,
        invoked_function_arn=f"arn:aws:lambda:eu-central-1:123456789012:function:{function}",
        aws_request_id="01234567-89ab-cdef-0123-456789abcdef",
        get_remaining_time_in_millis=lambda: 60_000,
    )


if __name__ == "__main__":
    main()
