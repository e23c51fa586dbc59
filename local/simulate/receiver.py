"""The receiver of webhooks inside the simulated world: it counts what arrives.

It sits below the product's HTTP client, at the end of a connection: names, addresses, deadlines and
the exchange itself are the client's own.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus
from math import inf
from urllib.parse import urlsplit

from local.runtime.clock import LocalClock
from local.simulate.fault_rates import Strike

PUBLIC_ADDRESS = "93.184.215.14"
MAX_LATE_SECONDS = 30.0
_PRIVATE_ADDRESSES = ("10.0.0.7", "169.254.169.254", "::1")
_ERROR_STATUS = 400


@dataclass(frozen=True)
class Received:
    """`is_accepted`: whether the receiver did the work, and answered that it did, or wanted to.

    `address`: where it was sent. `is_repeat`: it arrived again, with the same key, and the receiver
    did nothing.
    """

    url: str
    key: str
    at: datetime
    is_accepted: bool
    address: str
    is_repeat: bool = False


@dataclass(frozen=True)
class ReceivedRequest:
    url: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Reply:
    """`delay_seconds`: how late it is. `is_reset`: the connection breaks in place of it."""

    content: bytes = b""
    delay_seconds: float = 0.0
    is_reset: bool = False


@dataclass
class Receiver:
    """Answers with the statuses in the URL's path, one after another; the last one stays.

    For example `https://receiver.example/7/503-200` fails once. `sleep` lets the sender wait.
    """

    clock: LocalClock
    strike: Strike
    sleep: Callable[[float], None]
    received: list[Received] = field(default_factory=list)
    _requests: int = 0

    def resolve(self, host: str, _port: int) -> Sequence[str]:
        """Return the addresses of the host. Raises OSError if the name is unknown."""
        self._requests += 1
        part = self.strike("dns-change", self._point)
        if part is None:
            return [PUBLIC_ADDRESS]
        if part < 0.2:
            raise socket.gaierror(socket.EAI_NONAME, f"{host}: unknown")
        if part < 0.4:
            raise socket.gaierror(socket.EAI_AGAIN, f"{host}: no answer")
        private = _PRIVATE_ADDRESSES[int(part * 100) % len(_PRIVATE_ADDRESSES)]
        if part < 0.6:
            return [private]
        return [private, PUBLIC_ADDRESS] if part < 0.8 else [PUBLIC_ADDRESS, private]

    def reply_to(self, request: ReceivedRequest, address: str) -> Reply:
        """Do the work of the request, unless a fault comes first, and return the reply."""
        status, point = self._choose_status(request.url), self._point
        if (part := self.strike("errs", point)) is not None:
            if part < 0.3:
                return _to_reply(HTTPStatus.INTERNAL_SERVER_ERROR, request)
            if part > 0.6:
                self._record(request, status, address)
            return Reply(is_reset=True)
        if (part := self.strike("hangs", point)) is not None:
            if part < 0.5:
                self._record(request, status, address)
            return Reply(delay_seconds=inf)
        self._record(request, status, address)
        reply = _to_reply(status, request)
        if (part := self.strike("answers-late", point)) is not None:
            return Reply(reply.content, part * MAX_LATE_SECONDS)
        if self.strike("answers-twice", point) is not None:
            self._record(request, status, address, is_repeat=True)
            return Reply(2 * reply.content)
        return reply

    @property
    def _point(self) -> str:
        return f"receiver request {self._requests}"

    def _choose_status(self, url: str) -> int:
        statuses = [int(one) for one in urlsplit(url).path.rpartition("/")[2].split("-")]
        earlier = sum(1 for one in self.received if one.url == url and not one.is_repeat)
        return statuses[min(earlier, len(statuses) - 1)]

    def _record(
        self, request: ReceivedRequest, status: int, address: str, *, is_repeat: bool = False
    ) -> None:
        self.received.append(
            Received(
                url=request.url,
                key=request.headers["idempotency-key"],
                at=self.clock.now(),
                is_accepted=status < _ERROR_STATUS,
                address=address,
                is_repeat=is_repeat,
            )
        )


def _to_reply(status: int, request: ReceivedRequest) -> Reply:
    """Return the response. A receiver may quote all that it got in an error, secrets included."""
    quoted = f"{status}: {request.url} {dict(request.headers)} {request.body.decode()}".encode()
    body = b"" if status < _ERROR_STATUS else quoted
    head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nContent-Length: {len(body)}\r\n\r\n"
    return Reply(head.encode() + body)
