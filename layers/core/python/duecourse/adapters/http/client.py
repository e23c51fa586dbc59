"""An HTTP client for URLs that callers choose, protected against SSRF.

It resolves the host once, checks every address, and connects to one of the checked addresses. Plain
http is allowed only to this machine, and only if the local stack permits it; everything else is
https. It follows no redirects and ignores proxies from the environment.
"""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from datetime import timedelta
from functools import cache
from http.client import HTTPConnection, HTTPException, HTTPResponse, IncompleteRead

from duecourse.adapters.http.deadline_connection import (
    Deadline,
    DeadlineConnection,
    ResponseTooLargeError,
    connect_to_first,
    run_with_deadline,
    start_tls,
)
from duecourse.domain.http.exchange import HttpResponse, NoResponseError, NotSentError
from duecourse.domain.http.header import check_header
from duecourse.domain.http.url import Url, parse_url

BODY_LIMIT = 1024 * 1024
_MAX_INTERIM_RESPONSES = 10
_HEAD_LIMIT = 256 * 1024
_DNS_ERROR_CODES = {socket.EAI_AGAIN: "EAI_AGAIN"}  # temporary, the host may exist

Resolve = Callable[[str, int], Sequence[str]]


def resolve_host(host: str, port: int) -> Sequence[str]:
    """Return all addresses of a host from the system's resolver. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class SsrfSafeHttpClient:
    """`ssl_context` decides which certificates are trusted.

    The default trusts the system's; tests pass their own.
    """

    def __init__(
        self,
        *,
        is_loopback_allowed: bool = False,
        resolve: Resolve = resolve_host,
        body_limit: int = BODY_LIMIT,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self._is_loopback_allowed = is_loopback_allowed
        self._resolve = resolve
        self._body_limit = body_limit
        self._ssl_context = ssl_context

    def post(
        self, url: str, body: bytes, headers: Mapping[str, str], *, timeout: timedelta
    ) -> HttpResponse:
        target = _parse_url(url)
        return self._send(
            target, _build_request("POST", target, body, headers), body, Deadline(timeout)
        )

    def patch(
        self, url: str, body: bytes, headers: Mapping[str, str], *, timeout: timedelta
    ) -> HttpResponse:
        target = _parse_url(url)
        return self._send(
            target, _build_request("PATCH", target, body, headers), body, Deadline(timeout)
        )

    def _send(
        self, target: Url, request: HTTPConnection, body: bytes, deadline: Deadline
    ) -> HttpResponse:
        addresses = self._resolve_addresses(target, deadline)
        with closing(self._connect(target, addresses, deadline)) as sock:
            # Leaves room for headers and chunk framing; only a body in tiny chunks needs more.
            max_bytes = 2 * self._body_limit + _HEAD_LIMIT
            connection = DeadlineConnection(sock, deadline, max_bytes=max_bytes)
            return self._exchange(request, connection, body)

    def _resolve_addresses(self, url: Url, deadline: Deadline) -> Sequence[str]:
        try:
            found = run_with_deadline(lambda: self._resolve(url.host, url.port), deadline)
        except TimeoutError as error:
            raise NotSentError(
                f"the DNS lookup of {url.host} timed out", code="ETIMEDOUT"
            ) from error
        except (OSError, UnicodeError) as error:
            code = _DNS_ERROR_CODES.get(getattr(error, "errno", None) or 0, "ENOTFOUND")
            raise NotSentError(f"the host {url.host} was not found", code=code) from error
        if not found:
            raise NotSentError(f"the host {url.host} has no address", code="ENOTFOUND")
        self._require_allowed(url, found)
        return found

    def _require_allowed(self, url: Url, addresses: Sequence[str]) -> None:
        """Raise NotSentError if any address is forbidden, because any of them may be used."""
        allowed = self._is_loopback_allowed
        if all(url.can_reach(address, is_loopback_allowed=allowed) for address in addresses):
            return
        problem = "resolves to an address that is not public"
        if not url.is_encrypted:
            problem = "can be reached over https only"
        raise NotSentError(f"the host {url.host} {problem}", code="address_refused")

    def _connect(self, url: Url, addresses: Sequence[str], deadline: Deadline) -> socket.socket:
        try:
            sock = connect_to_first(addresses, url.port, deadline)
        except OSError as error:
            code = _error_code(error)
            raise NotSentError(f"no connection to {url.host}: {code}", code=code) from error
        return self._start_tls(sock, url, deadline) if url.is_encrypted else sock

    def _start_tls(self, sock: socket.socket, url: Url, deadline: Deadline) -> socket.socket:
        try:
            return start_tls(
                sock, url.host, deadline, ssl_context=self._ssl_context or _default_ssl_context()
            )
        except TimeoutError as error:
            message = f"the TLS handshake with {url.host} timed out"
            raise NotSentError(message, code="ETIMEDOUT") from error
        except (OSError, ValueError) as error:
            message = f"no trusted TLS connection to {url.host}: {_tls_error_text(error)}"
            raise NotSentError(message, code="tls_failed") from error

    def _exchange(
        self, request: HTTPConnection, connection: DeadlineConnection, body: bytes
    ) -> HttpResponse:
        """Send the request and return the response.

        Errors from here on may mean that it was sent.
        """
        host, request.sock = request.host, connection
        status: int | None = None
        try:
            request.endheaders(body)
            with closing(request.getresponse()) as response:
                if connection.is_closed_by_peer:  # http.client accepts headers that were cut off
                    raise IncompleteRead(b"")
                status = _read_status(response)
                return _read_response(response, limit=self._body_limit)
        except (HTTPException, OSError, ResponseTooLargeError, ValueError) as error:
            code, problem = _classify_error(error)
            raise NoResponseError(f"{host} {problem}", code=code, status=status) from error


def _classify_error(error: Exception) -> tuple[str, str]:
    match error:
        case TimeoutError():
            return "ETIMEDOUT", "did not answer in time"
        case OSError():
            return "ECONNRESET", "closed the connection before it answered"
        case IncompleteRead():
            return "answer_cut_off", "sent an incomplete response"
        case ResponseTooLargeError():
            return "answer_too_large", "sent more than the client reads"
    return "not_http", "sent a response that is not HTTP"


def _read_status(response: HTTPResponse) -> int:
    if response.status >= 600:
        raise HTTPException("the status is not valid")
    return response.status


class _FinalResponse(HTTPResponse):
    """Skip all interim responses such as 103; http.client only skips 100."""

    def begin(self) -> None:
        for _ in range(_MAX_INTERIM_RESPONSES + 1):
            super().begin()
            if self.status >= 200:
                return
            self.headers = self.msg = None  # type: ignore[assignment]
        raise HTTPException("the server sent too many interim responses")


def _parse_url(url: str) -> Url:
    try:
        return parse_url(url)
    except ValueError as error:
        raise NotSentError(f"the URL {error}", code="bad_url") from error


def _build_request(
    method: str, url: Url, body: bytes, headers: Mapping[str, str]
) -> HTTPConnection:
    """Return the prepared request. Raises NotSentError for invalid headers, before connecting."""
    request = HTTPConnection(url.host, url.port)
    request.auto_open = 0  # never open a connection by itself
    request.response_class = _FinalResponse
    try:
        request.putrequest(method, url.path, skip_host=True)
        request.putheader("Host", url.authority)
        request.putheader("Content-Length", str(len(body)))
        request.putheader("Connection", "close")
        for name, value in headers.items():
            check_header(name, value)
            request.putheader(name, value)
    except ValueError as error:
        raise NotSentError(f"the request cannot be sent: {error}", code="bad_header") from None
    return request


def _read_response(response: HTTPResponse, *, limit: int) -> HttpResponse:
    body = response.read(limit + 1)
    if len(body) > limit:
        raise ResponseTooLargeError
    if response.length:  # `read` does not report missing bytes
        raise IncompleteRead(body, response.length)
    headers = {name.lower(): value for name, value in response.getheaders()}
    return HttpResponse(response.status, headers, body)


@cache
def _default_ssl_context() -> ssl.SSLContext:
    return ssl.create_default_context()


def _error_code(error: OSError) -> str:
    if isinstance(error, TimeoutError):
        return "ETIMEDOUT"
    return errno.errorcode.get(error.errno or 0, "ECONNREFUSED")


def _tls_error_text(error: Exception) -> str:
    return (
        getattr(error, "verify_message", None)
        or getattr(error, "reason", None)
        or "the handshake did not complete"
    )
