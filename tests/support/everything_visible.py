"""Everything that a stack shows or tells: responses, chat, events on the bus and live, logs."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from duecourse.app import registry

from local.runtime.template import ROOT
from tests.support.bus_listener import BusListener
from tests.support.stack_client import StackClient

FUNCTIONS = (
    "api",
    "chat",
    "failure",
    "journal",
    "live",
    "notifier",
    "scanner",
    "sweeper",
    "worker",
)
_TASK_PATH = "{task_id}"
_PARAMETERS = {"{policy}": "agent", "{budget}": "daily", "{provider}": "scripted"}
_QUERIES = {"/errors": "?subject=crm", "/stats": "?days=2"}
_FILES = {"/", "/docs", "/assets/{name}"}  # code, the same for everybody


@dataclass
class RecordingSender:
    """Stands for the open WebSockets, and keeps what is sent to them."""

    sent: list[str] = field(default_factory=list)

    def send(self, connection_id: str, text: str) -> None:  # noqa: ARG002 - all are alike
        self.sent.append(text)

    def close(self, connection_id: str) -> None:
        """Nothing is open."""


class Visible:
    """Listens from now on. `caplog` collects the logs of all functions, whatever their level."""

    def __init__(self, client: StackClient, caplog: pytest.LogCaptureFixture) -> None:
        self._client = client
        self._caplog = caplog
        self._bus = BusListener()
        self._sender = RecordingSender()
        client.stack.scheduler.call(lambda: registry.register_connection_sender(self._sender))
        files = [ROOT / "events" / f"live_{name}.json" for name in ("connect", "ping")]
        connect, ping = (json.loads(file.read_text()) for file in files)
        client.stack.invoke("live", connect)
        client.stack.invoke("live", {**ping, "body": '{"action": "subscribe"}'})
        for name in FUNCTIONS:
            caplog.set_level(logging.DEBUG, logger=name)

    def texts(self, *task_ids: str) -> Iterator[tuple[str, str]]:
        """Yield where something is shown, and what."""
        assert self._bus.messages(), "nothing was published: the test would see nothing"
        assert self._sender.sent, "no live event was sent: the test would see nothing"
        for target in self._targets(task_ids):
            for token in ("local", "local-read"):
                body = self._client.call("GET", target, token=token).body
                yield target, json.dumps(body, ensure_ascii=False)
        for task_id in task_ids:
            yield "chat", self._client.say(f"/task {task_id[:8]}")
        yield "chat", self._client.say("/tasks")
        yield "outbox", json.dumps(self._client.outbox(), ensure_ascii=False)
        yield "bus", json.dumps(self._bus.messages(), ensure_ascii=False)
        yield "live", "\n".join(self._sender.sent)
        yield "logs", str([vars(record) for record in self._caplog.records])

    def _targets(self, task_ids: tuple[str, ...]) -> Iterator[str]:
        """Yield every route that is read, for each of the tasks."""
        paths: dict[str, Any] = self._client.call("GET", "/openapi.json").body["paths"]
        for path in [name for name, methods in paths.items() if "get" in methods]:
            target = path.replace("{subject}", "crm") + _QUERIES.get(path, "")
            for name, value in _PARAMETERS.items():
                target = target.replace(name, value)
            if path not in _FILES:
                yield from {target.replace(_TASK_PATH, task_id) for task_id in task_ids}
