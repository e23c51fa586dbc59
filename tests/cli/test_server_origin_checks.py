"""Which hosts and origins the server of the local stack accepts."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from threading import Thread
from urllib.parse import urlsplit

import pytest

from local.runtime.api_gateway import Gateway
from local.runtime.server import Server
from tests.support.stack_client import StackClient

TUNNEL_HOST = "abc.tunnel.example"
UPGRADE_HEADERS = (
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "Authorization: Bearer local",
)
HELP_MESSAGE = json.dumps({"sender_id": "ada", "reply_target": "ada", "text": "/help"})


@dataclass(frozen=True)
class RawResponse:
    status: int
    head: str
    body: str


@pytest.fixture(scope="module")
def port(served: tuple[StackClient, str]) -> Iterator[int]:
    """Start a server that accepts one tunnel host and return its port."""
    server = Server(Gateway(served[0].stack), 0, tunnel_hosts=[TUNNEL_HOST])
    thread = Thread(target=server.serve_forever, args=[0.01], daemon=True)
    thread.start()
    yield int(server.server_address[1])
    server.shutdown()
    server.server_close()
    thread.join(5)


def send_request(port: int, first_line: str, *headers: str, body: str = "") -> RawResponse:
    lines = [f"{first_line} HTTP/1.1", f"Content-Length: {len(body)}", "Connection: close"]
    return send_raw(port, "\r\n".join([*lines, *headers, "", body]))


def send_handshake(port: int, *headers: str, target: str = "/live") -> RawResponse:
    return send_raw(
        port, "\r\n".join([f"GET {target} HTTP/1.1", *UPGRADE_HEADERS, *headers, "", ""])
    )


def send_raw(port: int, request: str) -> RawResponse:
    """Send raw bytes and return the response, once the server closes or switches protocols."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as sock:
        sock.sendall(request.encode())
        received = b""
        while b" 101 " not in received and (chunk := sock.recv(65536)):
            received += chunk
    head, _, body = received.decode().partition("\r\n\r\n")
    return RawResponse(int(head.split()[1]) if head else 0, head.lower(), body)


# --- Host header -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "LOCALHOST:8000", "[::1]", "[::1]:8000", "127.0.0.1:1"]
)
def test_loopback_host_names_are_accepted(port: int, host: str) -> None:
    assert send_request(port, "GET /_local/clock", f"Host: {host}").status == 200
    assert send_handshake(port, f"Host: {host}").status == 101


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8000",
        "",
        "127.0.0.1.evil.example",
        "localhost.evil.example:8000",
        "127.0.0.1@evil.example",
        "127.0.0.1:x",
        "0.0.0.0:8000",
        "::1",
        TUNNEL_HOST,
        "127.0.0.1\r\nHost: evil.example",
    ],
)
def test_other_host_names_are_refused(port: int, host: str) -> None:
    for first_line in ("GET /_local/outbox", "POST /_local/reset", "GET /", "GET /nowhere"):
        response = send_request(port, first_line, f"Host: {host}")
        assert response.status == 421
        assert "content-type: application/problem+json" in response.head
        assert "Host header" in json.loads(response.body)["detail"]
    assert send_handshake(port, f"Host: {host}").status == 421


def test_a_missing_host_header_is_accepted_only_without_an_origin(port: int) -> None:
    assert send_raw(port, "GET /_local/clock HTTP/1.0\r\n\r\n").status == 200
    origin = "Origin: http://127.0.0.1:8000"
    assert send_raw(port, f"GET /_local/clock HTTP/1.0\r\n{origin}\r\n\r\n").status == 421
    assert send_handshake(port, origin).status == 421


def test_a_tunnel_host_reaches_only_the_webhooks_of_chat_platforms(port: int) -> None:
    host = f"Host: {TUNNEL_HOST.upper()}:443"
    assert send_request(port, "POST /webhooks/telegram", host, body="{}").status == 401
    for path in ("/webhooks/console", "/webhooks/%63onsole", "/_local/reset", "/tasks", "//[x"):
        assert send_request(port, f"POST {path}", host, body=HELP_MESSAGE).status == 421
    assert send_handshake(port, host, target="/webhooks/telegram").status == 421
    assert send_request(port, "POST /webhooks/telegram", "Host: x.tunnel.example").status == 421


# --- Origin header -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "",
        "http://127.0.0.1",
        "http://127.0.0.1:8001",
        "https://127.0.0.1:8000",
        "http://localhost:8000",
        "http://me@127.0.0.1:8000",
        "http://127.0.0.1:8000\r\nOrigin: http://127.0.0.1:8000",
    ],
)
def test_a_change_from_another_origin_is_refused(
    served: tuple[StackClient, str], port: int, origin: str
) -> None:
    task = served[0].create(**{"in": "1h"})
    before = len(served[0].outbox())
    headers = ("Host: 127.0.0.1:8000", f"Origin: {origin}")
    for first_line in (
        *("POST /_local/reset", "POST /%5flocal/reset", "POST http://x/_local/reset"),
        *("POST /_local/clock", "DELETE /_local/faults", "POST /webhooks/console"),
    ):
        response = send_request(port, first_line, *headers, body=HELP_MESSAGE)
        assert response.status == 403
        assert "Origin" in json.loads(response.body)["detail"]
    assert served[0].task(task["id"])["status"] == "pending"
    assert len(served[0].outbox()) == before


def test_a_change_from_the_own_origin_or_without_one_is_accepted(port: int) -> None:
    for headers in (["Origin: http://localhost:8000"], []):
        all_headers = ["Host: localhost:8000", *headers]
        assert (
            send_request(port, "POST /webhooks/console", *all_headers, body=HELP_MESSAGE).status
            == 200
        )
        assert send_request(port, "POST /_local/reset", *all_headers).status == 200


@pytest.mark.parametrize(
    "origin", ["http://localhost", "http://127.0.0.1", "https://127.0.0.1:8000", "http://x@y"]
)
def test_a_websocket_handshake_from_another_origin_is_refused(port: int, origin: str) -> None:
    assert send_handshake(port, "Host: 127.0.0.1:8000", f"Origin: {origin}").status == 403


# --- responses ---------------------------------------------------------------------------------


def test_a_handshake_with_an_unreadable_target_is_a_400(
    port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert send_handshake(port, "Host: 127.0.0.1", target="http://[::1/").status == 400
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("first_line", "status"),
    [
        ("GET /_local/clock", 200),
        ("GET /_local/playground.css", 200),
        ("GET /_local/nothing", 404),
        ("GET /nowhere", 404),
        ("GET /stats", 200),
        ("GET /tasks/nobody", 404),
    ],
)
def test_every_response_has_nosniff_and_no_referrer_headers(
    port: int, first_line: str, status: int
) -> None:
    response = send_request(port, first_line, "Host: localhost", "Authorization: Bearer local")
    assert response.status == status
    assert "x-content-type-options: nosniff" in response.head
    assert "referrer-policy: no-referrer" in response.head


def test_an_unconfigured_tunnel_host_is_refused(
    served: tuple[StackClient, str],
) -> None:
    port = int(urlsplit(served[1]).port or 0)
    assert (
        send_request(port, "POST /webhooks/telegram", f"Host: {TUNNEL_HOST}", body="{}").status
        == 421
    )
