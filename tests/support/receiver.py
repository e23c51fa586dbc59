"""A web server on the loopback that records requests and misbehaves on demand.

with Receiver() as receiver:
    receiver.answer(503, headers={"Retry-After": "7"})
    receiver.answer(200, b'{"ok": true}')  # the last one is repeated
    ...
    assert receiver.requests[0].json == {"text": "hello"}
"""

from __future__ import annotations

import http.client
import json
import socket
import ssl
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from threading import Condition, Event, Thread
from types import TracebackType
from typing import Any

_TIMEOUT = 5.0  # seconds
_PACE = 0.01  # seconds between two bytes that drip
_LIMIT = 16 * 1024 * 1024

Behaviour = Callable[[socket.socket, Event], None]


@dataclass(frozen=True)
class ReceivedRequest:
    """Header names in lower case. `path` with the query."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Receiver:
    """Answers 200 by default. With `tls` it serves https."""

    def __init__(self, *, tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[ReceivedRequest] = []
        self._tls = tls
        self._behaviours: list[Behaviour] = []
        self._stopped = Event()
        self._accepted = Condition()
        self._peers: list[tuple[str, int]] = []
        self._probe_count = 0
        self._sockets: list[socket.socket] = []
        self._threads: list[Thread] = []

    def __enter__(self) -> Receiver:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._accepting = Thread(target=self._accept, daemon=True)
        self._accepting.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stopped.set()
        self._open_probe()  # wakes the accepting thread
        self._accepting.join(_TIMEOUT)
        self._listener.close()
        for connection in self._sockets:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(_TIMEOUT)
        for connection in self._sockets:
            connection.close()

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    def url(self, path: str = "/", *, host: str = "127.0.0.1") -> str:
        scheme = "https" if self._tls else "http"
        return f"{scheme}://{host}:{self.port}{path}"

    @property
    def connections(self) -> int:
        """Count the TCP connections opened so far, with or without a request.

        Connections are accepted in order: once our own probe is accepted, all earlier ones are.
        """
        self._open_probe()
        return len(self._peers) - self._probe_count

    # Behaviours: one for each request, in this order.

    def answer(
        self, status: int = 200, body: bytes = b"", *, headers: Mapping[str, str] | None = None
    ) -> None:
        fields = {"Content-Length": str(len(body)), "Connection": "close", **(headers or {})}
        self.send_raw(_head(status, fields) + body)

    def redirect(self, to: str, status: int = 302) -> None:
        self.answer(status, headers={"Location": to})

    def send_raw(self, raw: bytes) -> None:
        """Send exactly these bytes, HTTP or not, and close the connection."""
        self._behaviours.append(lambda connection, _: connection.sendall(raw))

    def truncate_body(self, body: bytes = b"half of i") -> None:
        """Close the connection one byte before the end of the body."""
        self.send_raw(_head(200, {"Content-Length": str(len(body) + 1)}) + body)

    def drop_connection(self) -> None:
        """Read the request and close the connection without a response."""
        self.send_raw(b"")

    def never_reply(self) -> None:
        """Read the request and send nothing until the receiver stops."""
        self.drip(b"", b"")

    def drip_headers(self) -> None:
        self.drip(b"HTTP/1.1 200 OK\r\nX-Slow: ", b"z")

    def drip_body(self) -> None:
        self.drip(_head(200, {"Content-Length": str(_LIMIT)}), b"z")

    def drip(self, head: bytes, chunk: bytes) -> None:
        """Send the head, then the chunk again and again without an end."""

        def send_slowly(connection: socket.socket, stopped: Event) -> None:
            connection.sendall(head)
            while not stopped.wait(_PACE if chunk else None):
                connection.sendall(chunk)

        self._behaviours.append(send_slowly)

    def forget(self) -> None:
        """Drop all behaviours, also the one that would be repeated."""
        self._behaviours.clear()

    # Implementation.

    def _open_probe(self) -> None:
        self._probe_count += 1
        with socket.create_connection(("127.0.0.1", self.port), _TIMEOUT) as probe:
            name = probe.getsockname()
            with self._accepted:
                assert self._accepted.wait_for(lambda: name in self._peers, _TIMEOUT)

    def _accept(self) -> None:
        while True:
            connection, peer = self._listener.accept()
            self._sockets.append(connection)
            with self._accepted:
                self._peers.append(peer)
                self._accepted.notify_all()
            if self._stopped.is_set():
                return
            thread = Thread(target=self._serve, args=[connection], daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        # Clients close the connection or abort the handshake: tests provoke that.
        with suppress(OSError, ValueError, http.client.HTTPException):
            if self._tls:
                connection = self._tls.wrap_socket(connection, server_side=True)
                self._sockets.append(connection)
            try:
                self.requests.append(_read(connection))
                self._next_behaviour()(connection, self._stopped)
            finally:
                connection.shutdown(socket.SHUT_RDWR)
                connection.close()

    def _next_behaviour(self) -> Behaviour:
        if not self._behaviours:
            self.answer()
        return self._behaviours.pop(0) if len(self._behaviours) > 1 else self._behaviours[0]


def _read(connection: socket.socket) -> ReceivedRequest:
    with connection.makefile("rb") as stream:
        method, path, _ = stream.readline(65_536).decode("ascii").split(" ")
        headers = {name.lower(): value for name, value in http.client.parse_headers(stream).items()}
        body = stream.read(min(int(headers.get("content-length", 0)), _LIMIT))
    return ReceivedRequest(method, path, headers, body)


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    reason = http.client.responses.get(status, "Unknown")
    lines = [
        f"HTTP/1.1 {status} {reason}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")
