"""One HTTP/1.1 exchange on an open socket: write a POST request, read the response.

`http.client` writes a request header by header and parses a response as an e-mail message, which
takes more CPU time than AWS's JSON. Here a request is one write. The response of a JSON service has
a length; `http.client` reads any other.
"""

from __future__ import annotations

from functools import lru_cache
from http.client import BadStatusLine, HTTPException, HTTPResponse, IncompleteRead
from io import BufferedReader, RawIOBase
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping, Sequence

_READ_SIZE = 65_536
_MAX_HEAD = 65_536
_END_OF_HEAD = b"\r\n\r\n"
_FINAL_STATUS = 200  # what comes before has a lower one, and no body
_DEFAULT_PORTS = {"http": 80, "https": 443}


class Headers(dict[str, str]):
    """Headers by name in lower case. They are found in any case."""

    def __getitem__(self, name: str) -> str:
        return super().__getitem__(name.lower())

    def __contains__(self, name: object) -> bool:
        return super().__contains__(str(name).lower())

    def get(self, name: str, default: Any = None) -> Any:
        return super().get(name.lower(), default)


class Response(NamedTuple):
    """A complete response. `must_close`: the server accepts no other request on the connection."""

    status: int
    headers: Headers
    body: bytes
    must_close: bool


def exchange(sock: socket.socket, url: str, headers: Mapping[str, str], body: bytes) -> Response:
    """Post `body` to the root of the host. `headers` have its length.

    Raise OSError or HTTPException, after which the connection cannot be used any more.
    """
    sock.sendall(encode_head(url, headers) + body)
    status, is_kept_open, answered, rest = _read_head(sock, b"")
    while status < _FINAL_STATUS:
        status, is_kept_open, answered, rest = _read_head(sock, rest)
    must_close = not is_kept_open or answered.get("connection", "").lower() == "close"
    length = answered.get("content-length", "")
    if not length.isdecimal() or "transfer-encoding" in answered:
        return Response(status, answered, *_read_without_length(sock, rest, answered, must_close))
    return Response(status, answered, _read_body(sock, rest, int(length)), must_close)


def encode_head(url: str, headers: Mapping[str, str]) -> bytes:
    lines = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
    if lines.count("\n") != len(headers) or lines.count("\r") != len(headers):
        raise ValueError("a header must not contain a line break")
    return _first_lines(url) + lines.encode("latin-1") + b"\r\n"


@lru_cache(maxsize=16)
def _first_lines(url: str) -> bytes:
    return f"POST / HTTP/1.1\r\nHost: {host_of(url)}\r\nAccept-Encoding: identity\r\n".encode()


def host_of(url: str) -> str:
    """Return the value of the header Host, with the port where it is not the scheme's own."""
    parts = urlsplit(url)
    is_default = _DEFAULT_PORTS.get(parts.scheme) == parts.port
    name = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{name}:{parts.port}" if parts.port and not is_default else f"{name}"


def _read_head(sock: socket.socket, received: bytes) -> tuple[int, bool, Headers, bytes]:
    """Return status, whether the version keeps connections open, headers, and what follows."""
    while _END_OF_HEAD not in received:
        part = sock.recv(_READ_SIZE)
        if not part or len(received) > _MAX_HEAD:
            raise BadStatusLine(received[:100].decode("latin-1"))
        received += part
    head, _, rest = received.partition(_END_OF_HEAD)
    first, *lines = head.decode("latin-1").split("\r\n")
    version, _, reason = first.partition(" ")
    if not version.startswith("HTTP/1.") or not reason[:3].isdecimal():
        raise BadStatusLine(first[:100])
    return int(reason[:3]), version != "HTTP/1.0", _parse_headers(lines), rest


def _parse_headers(lines: Sequence[str]) -> Headers:
    headers = Headers()
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon:
            raise HTTPException("a header of the response has no colon")
        headers[name.lower()] = value.strip()
    return headers


def _read_body(sock: socket.socket, received: bytes, length: int) -> bytes:
    parts, missing = [received], length - len(received)
    while missing > 0:
        part = sock.recv(min(missing, _READ_SIZE))
        if not part:
            raise IncompleteRead(b"".join(parts), missing)
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


class _Rest(RawIOBase):
    """The bytes that were received with the head, and then those of the socket."""

    def __init__(self, received: bytes, sock: socket.socket) -> None:
        self._received, self._sock = received, sock

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._received:
            return self._sock.recv_into(buffer)
        part = self._received[: len(buffer)]
        self._received = self._received[len(part) :]
        buffer[: len(part)] = part
        return len(part)


def _read_without_length(
    sock: socket.socket, received: bytes, headers: Headers, must_close: bool
) -> tuple[bytes, bool]:
    """Return the body, and whether the connection must be closed."""
    stream = BufferedReader(_Rest(received, sock))
    if headers.get("transfer-encoding", "").lower() != "chunked":
        return stream.read(), True
    response: Any = HTTPResponse(sock, method="POST")
    response.fp.close()
    response.fp, response.chunked, response.chunk_left, response.length = stream, True, None, None
    response.will_close = must_close
    return response.read(), must_close
