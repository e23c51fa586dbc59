"""The HTTP server in front of the gateway."""

from __future__ import annotations

import sys
from collections.abc import Collection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from local.runtime.api_gateway import Gateway, Request, Response, problem_response
from local.runtime.caller_check import ForbiddenCallerError, check_caller

BODY_LIMIT = 10 * 1024 * 1024
MAX_LENGTH_DIGITS = 12
MAX_DISCARDED_BYTES = 10 * BODY_LIMIT
CHUNK_SIZE = 64 * 1024


class Server(ThreadingHTTPServer):
    """Listens on 127.0.0.1 only. `tunnel_hosts` are hosts through which platforms may reach it."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, gateway: Gateway, port: int, *, tunnel_hosts: Collection[str] = ()) -> None:
        self.gateway = gateway
        self.tunnel_hosts = tunnel_hosts
        super().__init__(("127.0.0.1", port), RequestHandler)

    def server_close(self) -> None:
        self.gateway.websocket_api.close_all()
        super().server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore connection errors: browsers drop connections when they leave a page."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class RequestHandler(BaseHTTPRequestHandler):
    server: Any  # has a gateway
    protocol_version = "HTTP/1.1"
    server_version = "duecourse"
    sys_version = ""
    # Do not delay small responses until the client has acknowledged the headers.
    disable_nagle_algorithm = True

    def __getattr__(self, name: str) -> Any:
        """Handle every HTTP method; the routes decide which ones exist."""
        if name.startswith("do_"):
            return self.handle_request
        raise AttributeError(name)

    def handle_request(self) -> None:
        is_upgrade = self.headers.get("upgrade", "").lower() == "websocket"
        length = self.content_length()
        try:
            check_caller(
                self._to_request(b""), tunnel_hosts=self.server.tunnel_hosts, is_upgrade=is_upgrade
            )
        except ForbiddenCallerError as error:
            self._discard(min(length or 0, MAX_DISCARDED_BYTES))
            self.refuse(error.status, str(error))
        else:
            if is_upgrade:
                self._handle_websocket()
            else:
                self.handle_http(length)

    def handle_http(self, length: int | None) -> None:
        if length is None:
            self.refuse(411, "one content-length is required")
        elif length > BODY_LIMIT:
            self._discard(min(length, MAX_DISCARDED_BYTES))
            self.refuse(413, f"the body is over {BODY_LIMIT:,} bytes")
        else:
            self.send(self.server.gateway.handle(self._to_request(self.rfile.read(length))))

    def _handle_websocket(self) -> None:
        """Serve a WebSocket.

        Every path belongs to that API, which has its own host when deployed.
        """
        self.close_connection = True
        self.connection.settimeout(0)
        already_read = self.rfile.read1()
        self.server.gateway.websocket_api.serve(
            self.connection, self._to_request(b""), already_read or b""
        )

    def content_length(self) -> int | None:
        lengths = self.headers.get_all("content-length", ["0"])
        is_valid = len(lengths) == 1 and lengths[0].isascii() and lengths[0].isdecimal()
        if (
            "transfer-encoding" in self.headers
            or not is_valid
            or len(lengths[0]) > MAX_LENGTH_DIGITS
        ):
            return None
        return int(lengths[0])

    def _discard(self, length: int) -> None:
        """Read and drop the body: a client that is still sending does not read a response."""
        while length > 0 and (chunk := self.rfile.read(min(length, CHUNK_SIZE))):
            length -= len(chunk)

    def _to_request(self, body: bytes) -> Request:
        """Return the request. Repeated headers are joined by commas, as API Gateway does."""
        headers: dict[str, str] = {}
        for name, value in self.headers.items():
            known = headers.get(name.lower())
            headers[name.lower()] = value if known is None else f"{known},{value}"
        return Request(self.command, self.path, headers, body, self.client_address[0])

    def refuse(self, status: int, detail: str) -> None:
        """Send an error and close the connection, since the unread body would follow."""
        self.close_connection = True
        self.send(problem_response(status, detail))

    def send(self, reply: Response) -> None:
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(reply.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Format the library's own errors like all others."""
        del explain
        self.close_connection = True
        self.send(problem_response(code, message or "the request cannot be read"))

    def log_message(self, *_: Any) -> None:
        """Do not log requests: the functions' logs show their effects."""
