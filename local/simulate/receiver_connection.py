"""The product's HTTP client with a connection to the receiver of the simulated world."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

from local.simulate.module_copy import ModuleCopy
from local.simulate.receiver import ReceivedRequest, Receiver, Reply


def make_client(modules: ModuleCopy, receiver: Receiver) -> Any:
    """Return the client that webhooks use in production, which refuses private addresses."""
    client_module = modules.load("duecourse.adapters.http.client")
    _use_simulated_time(client_module, modules.load("duecourse.adapters.http.deadline_connection"))
    client = client_module.SsrfSafeHttpClient(resolve=receiver.resolve)
    # Below it there would be a socket, and TLS.
    client._connect = lambda url, addresses, _deadline: ReceiverSocket(
        receiver, url.host, addresses
    )
    return client


def _use_simulated_time(client_module: ModuleType, connection_module: ModuleType) -> None:
    """Let deadlines be of the simulated clock: a monotonic one is not replaced."""
    vars(connection_module)["time"] = SimpleNamespace(monotonic=time.time)
    vars(client_module)["run_with_deadline"] = _run_here


def _run_here(work: Callable[[], Any], _deadline: Any) -> Any:
    """Resolve a name without a thread, which would have no turn in the event loop."""
    return work()


class ReceiverSocket:
    """The part of a socket that the client uses. The reply comes when it is waited for."""

    def __init__(self, receiver: Receiver, host: str, addresses: Sequence[str]) -> None:
        self._receiver = receiver
        self._host = host
        self._address = addresses[0]
        self._timeout = 0.0
        self._sent = bytearray()
        self._left: bytes | None = None

    def settimeout(self, seconds: float) -> None:
        self._timeout = seconds

    def send(self, data: bytes | memoryview) -> int:
        self._sent += data
        return len(data)

    def recv_into(self, buffer: memoryview) -> int:
        if self._left is None:
            request = parse_request(bytes(self._sent), self._host)
            self._left = self._wait_for(self._receiver.reply_to(request, self._address))
        count = min(len(buffer), len(self._left))
        buffer[:count], self._left = self._left[:count], self._left[count:]
        return count

    def close(self) -> None:
        """Do nothing: the receiver does not wait for the end."""

    def _wait_for(self, reply: Reply) -> bytes:
        if reply.delay_seconds >= self._timeout:
            self._receiver.sleep(self._timeout)
            raise TimeoutError
        if reply.delay_seconds:
            self._receiver.sleep(reply.delay_seconds)
        if reply.is_reset:
            raise ConnectionResetError
        return reply.content


def parse_request(data: bytes, host: str) -> ReceivedRequest:
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    pairs = (line.partition(": ") for line in lines)
    headers = {name.lower(): value for name, _, value in pairs}
    return ReceivedRequest(f"https://{host}{first.split(' ')[1]}", headers, body)
