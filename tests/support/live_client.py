"""A WebSocket client of the local stack."""

from __future__ import annotations

import base64
import json
import socket
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Thread
from typing import Any

from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from local.runtime.api_gateway import Gateway
from local.runtime.server import Server
from local.runtime.stack import DEFAULT_TOKEN
from tests.support.stack_client import StackClient

TIMEOUT = 20.0  # seconds


@dataclass(frozen=True)
class LiveClient:
    websocket: ClientConnection

    def receive(self) -> dict[str, Any]:
        return dict(json.loads(self.websocket.recv(timeout=TIMEOUT)))

    def exchange(self, message: Any) -> dict[str, Any]:
        """Send the message and return the next one received; no event may be pending."""
        self.websocket.send(message if isinstance(message, str | bytes) else json.dumps(message))
        return self.receive()

    def receive_types(self, count: int) -> list[str]:
        return [self.receive()["type"] for _ in range(count)]

    def reset_connection(self) -> None:
        """Close the TCP connection without a closing frame."""
        raw = self.websocket.socket
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raw.shutdown(socket.SHUT_RD)  # wakes the library's reader thread
        raw.close()


@dataclass(frozen=True)
class LiveServer:
    stack: StackClient
    port: int

    @contextmanager
    def connect(
        self, token: str | None = DEFAULT_TOKEN, *, path: str = "/live", **options: Any
    ) -> Iterator[LiveClient]:
        """Connect as browsers do: with the token among the subprotocols."""
        if token is not None:
            options["subprotocols"] = subprotocols(token)
        options = {"proxy": None, "compression": None, **options}
        url = f"ws://127.0.0.1:{self.port}{path}"
        with connect(url, open_timeout=TIMEOUT, **options) as websocket:
            yield LiveClient(websocket)


def subprotocols(token: str) -> list[Subprotocol]:
    encoded = base64.urlsafe_b64encode(token.encode()).decode().rstrip("=")
    return [Subprotocol("duecourse"), Subprotocol(f"bearer.{encoded}")]


def bearer(token: str) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {token}"}


@contextmanager
def live_server(client: StackClient) -> Iterator[LiveServer]:
    server = Server(Gateway(client.stack), 0)
    thread = Thread(target=server.serve_forever, args=[0.01], daemon=True)
    thread.start()
    try:
        yield LiveServer(client, server.server_address[1])
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
