"""A connection that keeps to a deadline, however slowly the other side drips what it says."""

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
    """The other side said more than anybody wants to keep."""


class Deadline:
    def __init__(self, timeout: timedelta) -> None:
        self._expires_at = time.monotonic() + timeout.total_seconds()

    def remaining_seconds(self) -> float:
        """Seconds, more than none. Raises TimeoutError."""
        left = self._expires_at - time.monotonic()
        if left <= 0:
            raise TimeoutError("the time is up")
        return left


class DeadlineConnection:
    """What `http.client` needs of a socket. Every single step waits no longer than the deadline
    allows: a timeout for each step by itself would begin anew with every byte that drips in.

    `is_over`: the other side has said all it will.
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
        """The socket stays open: `http.client` closes this before it has read the answer."""


class _SocketReader(io.RawIOBase):
    def __init__(self, connection: DeadlineConnection) -> None:
        self._connection = connection

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._connection.receive_into(buffer)


def connect_to_first(addresses: Sequence[str], port: int, deadline: Deadline) -> socket.socket:
    """To the first of the addresses that answers; each may take its share of the time.

    Raises OSError, the last one's.
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
    """Talk to whoever can prove to be the host, and to nobody else. Raises OSError."""
    try:
        sock.settimeout(deadline.remaining_seconds())
        return ssl_context.wrap_socket(sock, server_hostname=host)
    except BaseException:
        sock.close()
        raise


def run_with_deadline(work: Callable[[], T], deadline: Deadline) -> T:
    """For work that knows no timeout of its own: it is left behind. Raises TimeoutError."""
    left = deadline.remaining_seconds()
    done: Future[T] = Future()
    # What is known of the invocation (its logger's keys, for one) is known to the thread, too.
    Thread(target=copy_context().run, args=[_run_into_future, done, work], daemon=True).start()
    return done.result(left)


def _run_into_future(future: Future[T], work: Callable[[], T]) -> None:
    try:
        future.set_result(work())
    except BaseException as error:  # noqa: BLE001 - raised where the work was asked for
        future.set_exception(error)


def _connect(address: str, port: int, timeout: float) -> socket.socket:
    """An address is connected to as it is: nothing looks for it once more."""
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
