"""A connection with one deadline for the whole exchange, even if the peer sends single bytes."""

from __future__ import annotations

import io
import socket
import ssl
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextvars import copy_context
from datetime import timedelta
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")
_CHUNK_SIZE = 64 * 1024


class ResponseTooLargeError(Exception):
    """The peer sent more than the limit."""


class Deadline:
    def __init__(self, timeout: timedelta) -> None:
        self._expires_at = time.monotonic() + timeout.total_seconds()

    def remaining_seconds(self) -> float:
        """Return the seconds left, more than zero. Raises TimeoutError."""
        left = self._expires_at - time.monotonic()
        if left <= 0:
            raise TimeoutError("the deadline has passed")
        return left


class DeadlineConnection:
    """The part of a socket that `http.client` needs, with one deadline for all its steps.

    A plain socket timeout would start again with every byte received. `is_closed_by_peer` is set
    when the peer has closed its side.
    """

    def __init__(self, sock: socket.socket, deadline: Deadline, *, max_bytes: int) -> None:
        self._socket = sock
        self._deadline = deadline
        self._remaining_bytes = max_bytes
        self.is_closed_by_peer = False

    def sendall(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            self._socket.settimeout(self._deadline.remaining_seconds())
            rest = rest[self._socket.send(rest[:_CHUNK_SIZE]) :]

    def receive_into(self, buffer: Any) -> int:
        self._socket.settimeout(self._deadline.remaining_seconds())
        received = self._socket.recv_into(buffer)
        self.is_closed_by_peer = received == 0
        self._remaining_bytes -= received
        if self._remaining_bytes < 0:
            raise ResponseTooLargeError
        return received

    def makefile(self, mode: str) -> io.BufferedReader:  # noqa: ARG002 - always "rb"
        return io.BufferedReader(_SocketReader(self))

    def close(self) -> None:
        """Do nothing: `http.client` calls this before it has read the response."""


class _SocketReader(io.RawIOBase):
    def __init__(self, connection: DeadlineConnection) -> None:
        self._connection = connection

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._connection.receive_into(buffer)


def connect_to_first(addresses: Sequence[str], port: int, deadline: Deadline) -> socket.socket:
    """Return a connection to the first address that accepts one.

    The remaining time is divided among the addresses. Raises the OSError of the last one.
    """
    *others, last = addresses
    for index, address in enumerate(others):
        try:
            return _connect(address, port, deadline.remaining_seconds() / (len(addresses) - index))
        except OSError:
            continue
    return _connect(last, port, deadline.remaining_seconds())


def start_tls(
    sock: socket.socket, host: str, deadline: Deadline, *, ssl_context: ssl.SSLContext
) -> socket.socket:
    """Return a TLS connection to a peer whose certificate matches `host`. Raises OSError."""
    try:
        sock.settimeout(deadline.remaining_seconds())
        return ssl_context.wrap_socket(sock, server_hostname=host)
    except BaseException:
        sock.close()
        raise


def run_with_deadline(work: Callable[[], T], deadline: Deadline) -> T:
    """Return `work()`, or raise TimeoutError and leave it running in its thread.

    For work that has no timeout of its own.
    """
    left = deadline.remaining_seconds()
    done: Future[T] = Future()
    # copy_context: the thread sees the invocation's context, such as the logger's keys.
    Thread(target=copy_context().run, args=[_run_into_future, done, work], daemon=True).start()
    return done.result(left)


def _run_into_future(future: Future[T], work: Callable[[], T]) -> None:
    try:
        future.set_result(work())
    except BaseException as error:  # noqa: BLE001 - `done.result` raises it
        future.set_exception(error)


def _connect(address: str, port: int, timeout: float) -> socket.socket:
    """Connect to an IP address. A literal address is not resolved again."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.settimeout(timeout)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.connect((address, port))
    except BaseException:
        sock.close()
        raise
    return sock
