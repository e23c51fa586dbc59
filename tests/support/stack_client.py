"""Talks to a local stack as a program outside would, without a socket in between."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from duecourse.domain.time.instant import from_text

from local.runtime.api_gateway import Gateway, Request
from local.runtime.stack import CUSTOM_HANDLERS_MODULE, DEFAULT_TOKEN, Stack
from tests.support.answers import ApiResponse


class StackClient:
    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self._gateway = Gateway(stack)

    def call(
        self,
        method: str,
        target: str,
        body: Any = None,
        *,
        token: str | None = DEFAULT_TOKEN,
        headers: Mapping[str, str] | None = None,
    ) -> ApiResponse:
        sent = {"content-type": "application/json", **(headers or {})}
        if token is not None:
            sent["authorization"] = f"Bearer {token}"
        raw = (
            body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        )
        reply = self._gateway.handle(Request(method, target, sent, raw, "127.0.0.1"))
        headers_back = {name.lower(): value for name, value in reply.headers.items()}
        told = json.loads(reply.body) if reply.body else None
        return ApiResponse(reply.status, told, headers_back, f"{method} {target}")

    def create(self, **fields: Any) -> dict[str, Any]:
        fields = {"description": "stretch", "reply_target": "ada", "sender_id": "ada"} | fields
        answer = self.call("POST", "/tasks", fields)
        assert answer.status == 201, answer.body
        return dict(answer.body)

    def task(self, task_id: str) -> dict[str, Any]:
        return dict(self.call("GET", f"/tasks/{task_id}").body)

    def items(self, target: str) -> list[dict[str, Any]]:
        return list(self.call("GET", target).body["items"])

    def say(self, text: str, *, sender: str = "ada") -> str:
        """Type to the console chat; what it answered."""
        body = {"sender_id": sender, "reply_target": sender, "text": text}
        assert self.call("POST", "/webhooks/console", body, token=None).status == 200
        return str(self.sent(sender)[-1]["text"])

    def advance(self, by: str) -> datetime:
        answer = self.call("POST", "/_local/clock", {"advance": by})
        assert answer.status == 200, answer.body
        return from_text(answer.body["now"])

    def sent(self, target: str | None = None) -> list[dict[str, Any]]:
        return self.items("/_local/outbox" + (f"?target={target}" if target else ""))

    def fault(self, **fault: Any) -> None:
        answer = self.call("POST", "/_local/faults", fault)
        assert answer.status == 200, answer.body


@contextmanager
def running_stack(
    starts_at: str = "2026-02-17T12:00:00Z", *, handlers_module: str = CUSTOM_HANDLERS_MODULE
) -> Iterator[StackClient]:
    stack = Stack(
        is_clock_manual=True, starts_at=from_text(starts_at), handlers_module=handlers_module
    )
    stack.start(log_level="CRITICAL")
    try:
        yield StackClient(stack)
    finally:
        stack.stop()
