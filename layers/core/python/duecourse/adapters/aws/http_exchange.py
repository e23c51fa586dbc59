"""One HTTP/1.1 exchange on an open socket: write a POST request, read the response.

`http.client` writes a request header by header and parses a response as an e-mail message, which
takes more CPU time than AWS's JSON. Here a request is one write. The response of a JSON service has
a length; `http.client` reads any other.
"""

from __future__ import annotations

from functools import lru_cache
from http.client import BadStatusLine, HTTPException, HTTPResponse, IncompleteRead
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping
    from io import BufferedReader

_MAX_LINE = 65_536
_MAX_HEADERS = 100
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
    with sock.makefile("rb") as stream:
        return _read_response(sock, stream)


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


def _read_response(sock: socket.socket, stream: BufferedReader) -> Response:
    status, is_kept_open = _read_status(stream)
    headers = _read_headers(stream)
    while status < _FINAL_STATUS:
        status, is_kept_open = _read_status(stream)
        headers = _read_headers(stream)
    must_close = not is_kept_open or headers.get("connection", "").lower() == "close"
    length = headers.get("content-length", "")
    if not length.isdecimal() or "transfer-encoding" in headers:
        return Response(status, headers, *_read_without_length(sock, stream, headers, must_close))
    body = stream.read(int(length))
    if len(body) < int(length):
        raise IncompleteRead(body, int(length) - len(body))
    return Response(status, headers, body, must_close)


def _read_status(stream: BufferedReader) -> tuple[int, bool]:
    """Return the status, and whether the protocol's version keeps connections open."""
    line = stream.readline(_MAX_LINE)
    version, _, rest = line.partition(b" ")
    status = rest[:3]
    if not version.startswith(b"HTTP/1.") or not status.isdigit():
        raise BadStatusLine(line[:100].decode("latin-1"))
    return int(status), version != b"HTTP/1.0"


def _read_headers(stream: BufferedReader) -> Headers:
    headers = Headers()
    for _ in range(_MAX_HEADERS):
        line = stream.readline(_MAX_LINE)
        if line == b"\r\n":
            return headers
        name, colon, value = line.decode("latin-1").partition(":")
        if not colon or not line.endswith(b"\n"):
            break
        headers[name.lower()] = value.strip()
    raise HTTPException("the headers of the response are incomplete or too long")


def _read_without_length(
    sock: socket.socket, stream: BufferedReader, headers: Headers, must_close: bool
) -> tuple[bytes, bool]:
    """Return the body, and whether the connection must be closed."""
    if headers.get("transfer-encoding", "").lower() != "chunked":
        return stream.read(), True
    response: Any = HTTPResponse(sock, method="POST")
    response.fp.close()
    response.fp, response.chunked, response.chunk_left, response.length = stream, True, None, None
    response.will_close = must_close
    return response.read(), must_close
