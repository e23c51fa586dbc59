"""The client of the HTTP API: returns JSON, or raises an error with one sentence.

The token is sent only to the configured server: the client follows no redirects, uses no proxies
from the environment, and requires a trusted certificate.
"""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Any
from urllib.parse import quote, urlencode

from duecourse.adapters.http.deadline_connection import (
    Deadline,
    DeadlineConnection,
    ResponseTooLargeError,
    connect_to_first,
    run_with_deadline,
    start_tls,
)

from local.cli.client.problem import error_from_problem
from local.cli.client.server import Server
from local.cli.errors import CommandFailedError

TIMEOUT = timedelta(seconds=10)
BODY_LIMIT = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ApiResponse:
    """`server_time` is the time of the server's clock."""

    status: int
    body: dict[str, Any]
    server_time: datetime

    @property
    def items(self) -> list[dict[str, Any]]:
        """Return the listed items. Raises CommandFailedError if the response is not a list."""
        items = self.body.get("items")
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            raise _unexpected_response("a list")
        return items

    def require_task(self) -> ApiResponse:
        """Return self. Raises CommandFailedError if the response is not a task."""
        if not isinstance(self.body.get("id"), str):
            raise _unexpected_response("a task")
        return self

    def require_stats(self) -> ApiResponse:
        """Return self. Raises CommandFailedError if the response has no statistics."""
        if not isinstance(self.body.get("days"), int):
            raise _unexpected_response("statistics")
        return self


def _unexpected_response(expected: str) -> CommandFailedError:
    return CommandFailedError(f"the response is not {expected}; check DUECOURSE_URL")


def build_path(*parts: str) -> str:
    """Return the parts as an escaped path, such as /tasks/0a1b2c3d."""
    return "".join(f"/{quote(part, safe='', errors='replace')}" for part in parts)


class ApiClient:
    """`ssl_context` decides which certificates are trusted; the default trusts the system's."""

    def __init__(
        self,
        server: Server,
        *,
        timeout: timedelta = TIMEOUT,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self._server = server
        self._timeout = timeout
        self._ssl_context = ssl_context

    def get(self, path: str, query: Mapping[str, Any] | None = None) -> ApiResponse:
        filled = {name: value for name, value in (query or {}).items() if value is not None}
        return self._request(
            "GET", f"{path}?{urlencode(filled, errors='replace')}" if filled else path
        )

    def post(
        self,
        path: str,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> ApiResponse:
        raw = b"" if body is None else json.dumps(body).encode()
        return self._request("POST", path, raw, headers or {})

    def delete(self, path: str) -> ApiResponse:
        return self._request("DELETE", path)

    def _request(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> ApiResponse:
        """Return the response. Raises CommandFailedError, and RefusedError for error statuses."""
        sent = {"Authorization": f"Bearer {self._server.token}", "Accept": "application/json"}
        sent |= {"Content-Type": "application/json"} if body else {}
        name = self._server.name
        try:
            return self._exchange(
                method, self._server.base + path, body, {**sent, **(headers or {})}
            )
        except TimeoutError:
            seconds = f"{self._timeout.total_seconds():g}"
            raise CommandFailedError(f"{name} did not answer within {seconds} seconds") from None
        except ConnectionRefusedError:
            hint = self._server.hint
            raise CommandFailedError(f"cannot connect to {name}", hint=hint) from None
        except ConnectionResetError:
            raise CommandFailedError(f"{name} closed the connection without an answer") from None
        except ssl.SSLError as error:
            reason = getattr(error, "verify_message", None) or error.reason or "connection lost"
            raise CommandFailedError(f"no trusted TLS connection to {name}: {reason}") from None
        except socket.gaierror:
            raise CommandFailedError(f"host {self._server.url.host} not found") from None
        except (ResponseTooLargeError, HTTPException, ValueError):
            raise CommandFailedError(f"{name} sent an invalid response") from None
        except OSError as error:
            reason = error.strerror or "connection lost"
            raise CommandFailedError(f"cannot connect to {name}: {reason}") from None

    def _exchange(
        self, method: str, path: str, body: bytes, headers: Mapping[str, str]
    ) -> ApiResponse:
        deadline, url = Deadline(self._timeout), self._server.url
        found = run_with_deadline(lambda: _resolve_host(url.host, url.port), deadline)
        sock = connect_to_first(found, url.port, deadline)
        if url.is_encrypted:
            trust = self._ssl_context or ssl.create_default_context()
            sock = start_tls(sock, url.host, deadline, ssl_context=trust)
        with closing(sock):
            request = HTTPConnection(url.host, url.port)
            request.auto_open = 0  # never open a connection by itself
            request.sock = DeadlineConnection(sock, deadline, max_bytes=BODY_LIMIT)
            own = {"Host": url.authority, "Connection": "close"}
            request.request(method, path, body=body or None, headers={**own, **headers})
            with closing(request.getresponse()) as response:
                return _parse_response(response, response.read(), self._server)


def _resolve_host(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def _parse_response(response: HTTPResponse, raw: bytes, server: Server) -> ApiResponse:
    body = _parse_json(raw)
    if not 200 <= response.status < 300:
        raise error_from_problem(response.status, body, server)
    if not isinstance(body, dict):
        raise CommandFailedError(f"{server.name} did not answer with JSON; check DUECOURSE_URL")
    return ApiResponse(response.status, body, _parse_date(response.headers.get("Date")))


def _parse_json(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None


def _parse_date(date: str | None) -> datetime:
    try:
        return parsedate_to_datetime(date or "").astimezone(UTC)
    except (ValueError, OverflowError):
        return datetime.now(UTC)
