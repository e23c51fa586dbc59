"""Asks the API and turns whatever comes of it into JSON, or into one sentence.

The token goes to the server that was named and nowhere else: no redirect is followed, no proxy of
the environment is asked, and a certificate that cannot be trusted ends it.
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
    Connection,
    Deadline,
    TooMuchError,
    connected,
    encrypted,
    in_time,
)

from local.cli.client.problem import problem_of
from local.cli.client.server import Server
from local.cli.errors import FailedError

TIMEOUT = timedelta(seconds=10)
BODY_LIMIT = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    """`now` is the server's time."""

    status: int
    body: dict[str, Any]
    now: datetime

    @property
    def items(self) -> list[dict[str, Any]]:
        """Raises FailedError where the answer is no list."""
        items = self.body.get("items")
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            raise _not_ours("no list")
        return items

    def of_task(self) -> Answer:
        """Itself. Raises FailedError where the answer is no task."""
        if not isinstance(self.body.get("id"), str):
            raise _not_ours("no task")
        return self

    def of_stats(self) -> Answer:
        """Itself. Raises FailedError where the answer has no statistics."""
        if not isinstance(self.body.get("days"), int):
            raise _not_ours("not of statistics")
        return self


def _not_ours(what: str) -> FailedError:
    return FailedError(f"the answer is {what}: at DUECOURSE_URL is no Duecourse API")


def path_of(*parts: str) -> str:
    """/tasks/0a1b2c3d, whatever the parts hold."""
    return "".join(f"/{quote(part, safe='', errors='replace')}" for part in parts)


class Api:
    """`trust` says whose certificates are believed: the system's, unless a test brings its own."""

    def __init__(
        self, server: Server, *, timeout: timedelta = TIMEOUT, trust: ssl.SSLContext | None = None
    ) -> None:
        self._server = server
        self._timeout = timeout
        self._trust = trust

    def get(self, path: str, query: Mapping[str, Any] | None = None) -> Answer:
        asked = {name: value for name, value in (query or {}).items() if value is not None}
        return self._asked("GET", f"{path}?{urlencode(asked, errors='replace')}" if asked else path)

    def post(
        self,
        path: str,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        raw = b"" if body is None else json.dumps(body).encode()
        return self._asked("POST", path, raw, headers or {})

    def _asked(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Raises FailedError, and RefusedError for what the server says no to."""
        sent = {"Authorization": f"Bearer {self._server.token}", "Accept": "application/json"}
        sent |= {"Content-Type": "application/json"} if body else {}
        name = self._server.name
        try:
            return self._exchange(
                method, self._server.base + path, body, {**sent, **(headers or {})}
            )
        except TimeoutError:
            seconds = f"{self._timeout.total_seconds():g}"
            raise FailedError(f"{name} did not answer within {seconds} seconds") from None
        except ConnectionRefusedError:
            raise FailedError(f"nobody answers at {name}{self._server.hint}") from None
        except ConnectionResetError:
            raise FailedError(f"{name} hung up before it answered") from None
        except ssl.SSLError as error:
            why = getattr(error, "verify_message", None) or error.reason or "it broke off"
            raise FailedError(f"no trusted TLS connection to {name}: {why}") from None
        except socket.gaierror:
            raise FailedError(f"the host {self._server.url.host} was not found") from None
        except (TooMuchError, HTTPException, ValueError):
            raise FailedError(f"{name} answered what is not understood") from None
        except OSError as error:
            why = error.strerror or "it broke off"
            raise FailedError(f"no connection to {name}: {why}") from None

    def _exchange(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        deadline, url = Deadline(self._timeout), self._server.url
        found = in_time(lambda: _look_up(url.host, url.port), deadline)
        sock = connected(found, url.port, deadline)
        if url.is_encrypted:
            trust = self._trust or ssl.create_default_context()
            sock = encrypted(sock, url.host, deadline, trust=trust)
        with closing(sock):
            request = HTTPConnection(url.host, url.port)
            request.auto_open = 0  # it never looks for a way of its own
            request.sock = Connection(sock, deadline, most=BODY_LIMIT)
            own = {"Host": url.authority, "Connection": "close"}
            request.request(method, path, body=body or None, headers={**own, **headers})
            with closing(request.getresponse()) as response:
                return _answer(response, response.read(), self._server)


def _look_up(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def _answer(response: HTTPResponse, raw: bytes, server: Server) -> Answer:
    body = _json(raw)
    if not 200 <= response.status < 300:
        raise problem_of(response.status, body, server)
    if not isinstance(body, dict):
        raise FailedError(f"{server.name} answered what is not JSON: is it the address of an API?")
    return Answer(response.status, body, _now(response.headers.get("Date")))


def _json(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None


def _now(date: str | None) -> datetime:
    try:
        return parsedate_to_datetime(date or "").astimezone(UTC)
    except (ValueError, OverflowError):
        return datetime.now(UTC)
