"""Count the bytes that the functions log, as CloudWatch Logs bills them.

Powertools writes a line for each log record and one line of metrics (EMF) for each invocation.
"""

from __future__ import annotations

import json
import logging
import os
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from io import TextIOBase
from typing import Any
from unittest.mock import patch

from aws_lambda_powertools.metrics.provider.cloudwatch_emf import cloudwatch
from aws_lambda_powertools.shared.constants import METRICS_DISABLED_ENV

from local.runtime.call_interceptor import current_function
from local.runtime.stack import Stack
from local.runtime.template import resources_of_type

EVENT_OVERHEAD = 26  # CloudWatch Logs adds these bytes to each event
_LEVEL = logging.INFO  # LogLevel's default
_REQUEST_ID = "01234567-89ab-cdef-0123-456789abcdef"
# What Lambda itself writes for each invocation, in its text format.
_SYSTEM_LINES = (
    f"START RequestId: {_REQUEST_ID} Version: $LATEST\n",
    f"END RequestId: {_REQUEST_ID}\n",
    f"REPORT RequestId: {_REQUEST_ID}\tDuration: 123.45 ms\tBilled Duration: 124 ms\t"
    "Memory Size: 512 MB\tMax Memory Used: 104 MB\t\n",
)
_QUIET_SYSTEM_LEVELS = {"WARN"}
# What a request to create a task has in the log of API Gateway.
_REQUEST_VALUES = {
    "identity.sourceIp": "203.0.113.117",
    "authorizer.name": "backend",
    "httpMethod": "POST",
    "path": "/tasks",
    "status": "201",
    "responseLatency": "41",
    "requestId": "JKJaXmPLvHcESHA=",
}


class LogMeter(TextIOBase):
    """A stream that counts what each function writes to it and prints nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.bytes: Counter[str] = Counter()
        self.metrics: set[tuple[str, str]] = set()

    def write(self, text: str) -> int:
        if function := current_function():
            # print() writes the line and its end apart; only the end makes an event.
            events = text.count("\n")
            self.bytes[function] += len(text.encode()) - events + EVENT_OVERHEAD * events
            self._note_metrics(function, text)
        return len(text)

    @contextmanager
    def observe(self, stack: Stack) -> Iterator[None]:
        """Read the logs of all functions, with metrics, at the default level."""
        loggers = [_logger_of(name) for name in stack.functions.names]
        before = [(one.level, one.registered_handler.stream) for one in loggers]
        is_disabled = os.environ[METRICS_DISABLED_ENV]  # noqa: TID251 - Powertools reads it
        os.environ[METRICS_DISABLED_ENV] = "false"  # noqa: TID251
        for one in loggers:
            one.setLevel(_LEVEL)
            one.registered_handler.stream = self  # setStream flushes, but the old may be closed
        try:
            with (
                patch.object(cloudwatch, "print", partial(print, file=self), create=True),
                warnings.catch_warnings(),
            ):
                # The functions of a process share Powertools' metrics: one may find them flushed.
                warnings.filterwarnings("ignore", message="No application metrics to publish")
                yield
        finally:
            os.environ[METRICS_DISABLED_ENV] = is_disabled  # noqa: TID251
            for one, (level, stream) in zip(loggers, before, strict=True):
                one.setLevel(level)
                one.registered_handler.stream = stream

    def _note_metrics(self, function: str, text: str) -> None:
        if '"_aws"' in text:
            for directive in json.loads(text)["_aws"]["CloudWatchMetrics"]:
                self.metrics.update((function, one["Name"]) for one in directive["Metrics"])


def system_log_bytes(properties: Mapping[str, Any]) -> int:
    """Return the bytes of Lambda's own lines for one invocation of a function."""
    config = properties.get("LoggingConfig", {})
    if (
        _by_default(config.get("LogFormat")) == "JSON"
        and _by_default(config.get("SystemLogLevel", "INFO")) in _QUIET_SYSTEM_LEVELS
    ):
        return 0
    return sum(len(line) - 1 + EVENT_OVERHEAD for line in _SYSTEM_LINES)


def access_log_bytes(template: dict[str, Any]) -> int:
    """Return the bytes of the line that API Gateway logs for one HTTP request."""
    stages = resources_of_type(template, "AWS::ApiGatewayV2::Stage").values()
    formats = [
        settings["Format"]
        for stage in stages
        if (settings := _by_default(stage.get("AccessLogSettings", {})))
        and "httpMethod" in settings.get("Format", "")
    ]
    return sum(len(_render(one)) + EVENT_OVERHEAD for one in formats)


def _render(log_format: str) -> str:
    for name, value in _REQUEST_VALUES.items():
        log_format = log_format.replace(f"$context.{name}", value)
    return log_format


def _by_default(value: Any) -> Any:
    """Return the value for the default log level, if it depends on the level."""
    return value["Fn::If"][1] if isinstance(value, dict) else value


def _logger_of(function: str) -> Any:
    return import_module(f"functions.{function}.app").logger
