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
_AT_ONCE = 64 * 1024


class TooMuchError(Exception):
    """The other side said more than anybody wants to keep."""


class Deadline:
    def __init__(self, timeout: timedelta) -> None:
        self._at = time.monotonic() + timeout.total_seconds()

    def left(self) -> float:
        """Seconds, more than none. Raises TimeoutError."""
        left = self._at - time.monotonic()
        if left <= 0:
            raise TimeoutError("the time is up")
        return left


class Connection:
    """What `http.client` needs of a socket. Every single step waits no longer than the deadline
    allows: a timeout for each step by itself would begin anew with every byte that drips in.

    `is_over`: the other side has said all it will.
    """

    def __init__(self, sock: socket.socket, deadline: Deadline, *, most: int) -> None:
        self._socket = sock
        self._deadline = deadline
        self._room = most
        self.is_over = False

    def sendall(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            self._socket.settimeout(self._deadline.left())
            rest = rest[self._socket.send(rest[:_AT_ONCE]) :]

    def receive_into(self, buffer: Any) -> int:
        self._socket.settimeout(self._deadline.left())
        received = self._socket.recv_into(buffer)
        self.is_over = received == 0
        self._room -= received
        if self._room < 0:
            raise TooMuchError
        return received

    def makefile(self, mode: str) -> io.BufferedReader:  # noqa: ARG002 - always "rb"
        return io.BufferedReader(_Incoming(self))

    def close(self) -> None:
        """The socket stays open: `http.client` closes this before it has read the answer."""


class _Incoming(io.RawIOBase):
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._connection.receive_into(buffer)


def connected(addresses: Sequence[str], port: int, deadline: Deadline) -> socket.socket:
    """To the first of the addresses that answers; each may take its share of the time.

    Raises OSError, the last one's.
    """
    *others, last = addresses
    for index, address in enumerate(others):
        try:
            return _connected(address, port, deadline.left() / (len(addresses) - index))
        except OSError:
            continue
    return _connected(last, port, deadline.left())


def encrypted(
    sock: socket.socket, host: str, deadline: Deadline, *, trust: ssl.SSLContext
) -> socket.socket:
    """Talk to whoever can prove to be the host, and to nobody else. Raises OSError."""
    try:
        sock.settimeout(deadline.left())
        return trust.wrap_socket(sock, server_hostname=host)
    except BaseException:
        sock.close()
        raise


def in_time(work: Callable[[], T], deadline: Deadline) -> T:
    """For work that knows no timeout of its own: it is left behind. Raises TimeoutError."""
    left = deadline.left()
    done: Future[T] = Future()
    # What is known of the invocation (its logger's keys, for one) is known to the thread, too.
    Thread(target=copy_context().run, args=[_fulfil, done, work], daemon=True).start()
    return done.result(left)


def _fulfil(done: Future[T], work: Callable[[], T]) -> None:
    try:
        done.set_result(work())
    except BaseException as error:  # noqa: BLE001 - raised where the work was asked for
        done.set_exception(error)


def _connected(address: str, port: int, timeout: float) -> socket.socket:
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
