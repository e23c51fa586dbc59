"""API Gateway's management API: messages to WebSocket connections, of which any id is open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Connections:
    """`sent` are the connection ids and the data, base64-encoded as in the request."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str]] = []
        self.operations: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "PostToConnection": self.post,
            "DeleteConnection": lambda _request: {},
        }

    def post(self, request: dict[str, Any]) -> dict[str, Any]:
        self.sent.append((request["ConnectionId"], request["Data"]))
        return {}
