"""Run a function at another time without letting it change anything, to see whether it would.

Reads go directly to the AWS emulation, because a dry run through botocore takes ten times as long.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from unittest.mock import patch

from botocore.client import BaseClient
from duecourse.adapters.aws.dynamodb.scan_cursors import STATE_KEY as CURSOR_KEY
from duecourse.adapters.aws.json_client import JsonClient
from duecourse.adapters.runtime.clock import SystemClock
from duecourse.app import stores
from duecourse.domain.errors import UnreadableItemError

from local.runtime.aws_backend import AwsBackend

_READS = ("GetItem", "BatchGetItem", "Query")


class ChangeAttemptedError(BaseException):
    """The function was about to write or send.

    A BaseException, which `except Exception` does not catch.
    """


class SilentReporter:
    """Drops what a dry run reports about unreadable items: the real run reports them."""

    def error(self, msg: object, **fields: Any) -> None: ...

    def warning(self, msg: object, **fields: Any) -> None: ...

    def add_metric(self, name: str, unit: str, value: float) -> None: ...

    def flush_metrics(self) -> None: ...


@dataclass(frozen=True)
class DryRun:
    """`reply` is the function's result, or None if it attempted a change or failed."""

    reply: dict[str, Any] | None
    metrics: Mapping[str, Sequence[float]] = field(default_factory=dict)

    @property
    def has_effect(self) -> bool:
        return self.reply is None


def run_dry(invoke: Callable[[], Any], at: datetime, backend: AwsBackend) -> dict[str, Any] | None:
    """Return the reply of a function as if it were `at`; None if it attempts a change or fails.

    Moving the scanner's cursor is no change: the next tick that runs moves it just as far.
    """
    disabled_logs = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with _clock_at(at), _read_only_clients(backend):
            return dict(invoke())
    except (ChangeAttemptedError, Exception):  # noqa: BLE001 - the real run reports the error
        return None
    finally:
        logging.disable(disabled_logs)


def read_soonest_due(backend: AwsBackend) -> datetime | None:
    """Return when the soonest open task is due, or None if there is none or it is unreadable."""
    try:
        with _read_only_clients(backend):
            tasks = stores.task_store().list_soonest(1)
    except UnreadableItemError:
        return None
    return tasks[0].due_at if tasks else None


@contextmanager
def _clock_at(instant: datetime) -> Iterator[None]:
    """Start the functions' clock at `instant`. Sleeping only moves it, and takes no time."""
    moment = instant

    def sleep_until(_clock: SystemClock, until: datetime) -> None:
        nonlocal moment
        moment = max(moment, until)

    with (
        patch.object(SystemClock, "now", lambda _clock: moment),
        patch.object(SystemClock, "sleep_until", sleep_until),
    ):
        yield


@contextmanager
def _read_only_clients(backend: AwsBackend) -> Iterator[None]:
    base_client: Any = BaseClient
    call = base_client._make_api_call

    def read_or_refuse(client: Any, operation: str, request: dict[str, Any]) -> Any:
        if operation == "GetSecretValue":
            return call(client, operation, request)
        if operation in _READS and client.meta.service_model.service_name == "dynamodb":
            return backend.read(operation, request)
        if operation == "PutItem" and _only_moves_cursor(request, backend):
            return {}
        raise ChangeAttemptedError

    classes: list[Any] = [BaseClient, JsonClient]  # a private method, missing in the type stubs
    with ExitStack() as patches:
        for client_class in classes:
            patches.enter_context(patch.object(client_class, "_make_api_call", read_or_refuse))
        yield


def _only_moves_cursor(request: dict[str, Any], backend: AwsBackend) -> bool:
    """Return whether the write changes the cursors of known shards, and of no new ones."""
    item = request["Item"]
    if item.get("key") != {"S": CURSOR_KEY}:
        return False
    key = {"TableName": request["TableName"], "Key": {"key": item["key"]}}
    stored = backend.read("GetItem", key).get("Item")
    return stored is not None and _shards(stored) == _shards(item)


def _shards(item: dict[str, Any]) -> set[str]:
    return set(json.loads(item["value"]["S"]))
