"""A web server on the loopback that remembers what it was sent, and misbehaves as it is told.

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

_TIMEOUT = 5.0  # nothing takes so long: a test that waits in vain fails
_PACE = 0.01  # between two bytes that drip
_LIMIT = 16 * 1024 * 1024

Behavior = Callable[[socket.socket, Event], None]


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
    """Answers 200 until told otherwise. With `tls`, it is spoken to by https."""

    def __init__(self, *, tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[ReceivedRequest] = []
        self._tls = tls
        self._manners: list[Behavior] = []
        self._released = Event()
        self._heard = Condition()
        self._callers: list[tuple[str, int]] = []
        self._knocks = 0
        self._open: list[socket.socket] = []
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
        self._released.set()
        self._knock()  # wakes up the thread that accepts
        self._accepting.join(_TIMEOUT)
        self._listener.close()
        for connection in self._open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(_TIMEOUT)
        for connection in self._open:
            connection.close()

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    def url(self, path: str = "/", *, host: str = "127.0.0.1") -> str:
        scheme = "https" if self._tls else "http"
        return f"{scheme}://{host}:{self.port}{path}"

    @property
    def connections(self) -> int:
        """How many TCP connections were opened until now, whether or not anything was sent.

        They are heard in the order in which they came: once our own knock is heard, all are.
        """
        self._knock()
        return len(self._callers) - self._knocks

    # What it answers: one of these for each request, in this order.

    def answer(
        self, status: int = 200, body: bytes = b"", *, headers: Mapping[str, str] | None = None
    ) -> None:
        told = {"Content-Length": str(len(body)), "Connection": "close", **(headers or {})}
        self.say(_head(status, told) + body)

    def redirect(self, to: str, status: int = 302) -> None:
        self.answer(status, headers={"Location": to})

    def say(self, raw: bytes) -> None:
        """These very bytes, HTTP or not, and hang up."""
        self._manners.append(lambda connection, _: connection.sendall(raw))

    def cut_short(self, body: bytes = b"half of i") -> None:
        """Hang up one byte before the end of a body."""
        self.say(_head(200, {"Content-Length": str(len(body) + 1)}) + body)

    def drop(self) -> None:
        """Read the request, and hang up without a word."""
        self.say(b"")

    def hold(self) -> None:
        """Read the request, and say nothing until the end."""
        self.drip(b"", b"")

    def drip_headers(self) -> None:
        self.drip(b"HTTP/1.1 200 OK\r\nX-Slow: ", b"z")

    def drip_body(self) -> None:
        self.drip(_head(200, {"Content-Length": str(_LIMIT)}), b"z")

    def drip(self, begins: bytes, drop: bytes) -> None:
        """Say how it begins, and then a drop at a time, none of them late, without an end."""

        def drips(connection: socket.socket, released: Event) -> None:
            connection.sendall(begins)
            while not released.wait(_PACE if drop else None):
                connection.sendall(drop)

        self._manners.append(drips)

    # How it works.

    def _knock(self) -> None:
        self._knocks += 1
        with socket.create_connection(("127.0.0.1", self.port), _TIMEOUT) as knock:
            name = knock.getsockname()
            with self._heard:
                assert self._heard.wait_for(lambda: name in self._callers, _TIMEOUT)

    def _accept(self) -> None:
        while True:
            connection, caller = self._listener.accept()
            self._open.append(connection)
            with self._heard:
                self._callers.append(caller)
                self._heard.notify_all()
            if self._released.is_set():
                return
            thread = Thread(target=self._serve, args=[connection], daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        # Callers hang up or break off the handshake: that is what they are tested for.
        with suppress(OSError, ValueError, http.client.HTTPException):
            if self._tls:
                connection = self._tls.wrap_socket(connection, server_side=True)
                self._open.append(connection)
            try:
                self.requests.append(_read(connection))
                self._next_manner()(connection, self._released)
            finally:
                connection.shutdown(socket.SHUT_RDWR)
                connection.close()

    def _next_manner(self) -> Behavior:
        if not self._manners:
            self.answer()
        return self._manners.pop(0) if len(self._manners) > 1 else self._manners[0]


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
