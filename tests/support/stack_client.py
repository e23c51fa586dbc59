"""A client of the local stack's HTTP API that calls it without a socket."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from copy import deepcopy
from datetime import datetime, timedelta
from typing import Any

from duecourse.domain.time.instant import from_text

from local.runtime.api_gateway import Gateway, Request
from local.runtime.aws_backend import AwsBackend
from local.runtime.moto_backend import MotoBackend
from local.runtime.stack import CUSTOM_HANDLERS_MODULE, DEFAULT_TOKEN, Stack
from local.runtime.template import load_template, resources_of_type
from local.testing.lean_aws.backend import LeanBackend
from tests.support.api_response import ApiResponse

DEFAULT_SHARD_COUNT = 4


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
        request_headers = {"content-type": "application/json", **(headers or {})}
        if token is not None:
            request_headers["authorization"] = f"Bearer {token}"
        raw = (
            body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        )
        reply = self._gateway.handle(Request(method, target, request_headers, raw, "127.0.0.1"))
        response_headers = {name.lower(): value for name, value in reply.headers.items()}
        response_body = json.loads(reply.body) if reply.body else None
        return ApiResponse(reply.status, response_body, response_headers, f"{method} {target}")

    def create(self, **fields: Any) -> dict[str, Any]:
        fields = {"description": "stretch", "reply_target": "ada", "sender_id": "ada"} | fields
        response = self.call("POST", "/tasks", fields)
        assert response.status == 201, response.body
        return dict(response.body)

    def task(self, task_id: str) -> dict[str, Any]:
        return dict(self.call("GET", f"/tasks/{task_id}").body)

    def items(self, target: str) -> list[dict[str, Any]]:
        return list(self.call("GET", target).body["items"])

    def say(self, text: str, *, sender: str = "ada") -> str:
        """Send a message to the console chat and return the reply."""
        body = {"sender_id": sender, "reply_target": sender, "text": text}
        assert self.call("POST", "/webhooks/console", body, token=None).status == 200
        return str(self.outbox(sender)[-1]["text"])

    def advance(self, by: str) -> datetime:
        response = self.call("POST", "/_local/clock", {"advance": by})
        assert response.status == 200, response.body
        return from_text(response.body["now"])

    def outbox(self, target: str | None = None) -> list[dict[str, Any]]:
        return self.items("/_local/outbox" + (f"?target={target}" if target else ""))

    def add_fault(self, **fault: Any) -> None:
        response = self.call("POST", "/_local/faults", fault)
        assert response.status == 200, response.body


@contextmanager
def running_stack(
    starts_at: str = "2026-02-17T12:00:00Z",
    *,
    handlers_module: str = CUSTOM_HANDLERS_MODULE,
    backend: AwsBackend | None = None,
    shard_count: int = 1,
    record_age: timedelta | None = None,
) -> Iterator[StackClient]:
    """Run a stack on the lean endpoint, or on another emulation of AWS.

    It has one shard, because each takes a query of every tick that is looked at. `record_age`
    is how long Lambda retries the records of a stream, by default as in template.yaml.
    """
    stack = Stack(
        is_clock_manual=True,
        starts_at=from_text(starts_at),
        handlers_module=handlers_module,
        template=_with_record_age(_template_with_shards(shard_count), record_age),
        backend=backend or LeanBackend(),
    )
    stack.start(log_level="CRITICAL")
    try:
        yield StackClient(stack)
    finally:
        stack.stop()


def moto_stack(
    starts_at: str = "2026-02-17T12:00:00Z", *, shard_count: int = 1
) -> AbstractContextManager[StackClient]:
    """Run a stack on moto, as on a laptop."""
    return running_stack(starts_at, backend=MotoBackend(), shard_count=shard_count)


def _template_with_shards(count: int) -> dict[str, Any]:
    template = load_template()
    parameters = template["Parameters"]
    if count == DEFAULT_SHARD_COUNT:
        assert parameters["ShardCount"]["Default"] == count
        return template
    shards = {**parameters["ShardCount"], "Default": count}
    return {**template, "Parameters": {**parameters, "ShardCount": shards}}


def _with_record_age(template: dict[str, Any], age: timedelta | None) -> dict[str, Any]:
    if age is None:
        return template
    template = deepcopy(template)
    for mapping in resources_of_type(template, "AWS::Lambda::EventSourceMapping").values():
        if "MaximumRecordAgeInSeconds" in mapping:
            mapping["MaximumRecordAgeInSeconds"] = int(age.total_seconds())
    return template
