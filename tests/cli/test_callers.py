"""Other websites, in the browser of whoever runs the local stack, and those who may talk to it."""

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

TUNNEL = "abc.tunnel.example"
UPGRADE = (
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "Authorization: Bearer local",
)
SAID = json.dumps({"sender_id": "ada", "reply_target": "ada", "text": "/help"})


@dataclass(frozen=True)
class Answer:
    status: int
    head: str
    body: str


@pytest.fixture(scope="module")
def port(served: tuple[StackClient, str]) -> Iterator[int]:
    """A server that chat platforms reach by a tunnel."""
    server = Server(Gateway(served[0].stack), 0, tunnel_hosts=[TUNNEL])
    thread = Thread(target=server.serve_forever, args=[0.01], daemon=True)
    thread.start()
    yield int(server.server_address[1])
    server.shutdown()
    server.server_close()
    thread.join(5)


def ask(port: int, first_line: str, *headers: str, body: str = "") -> Answer:
    lines = [f"{first_line} HTTP/1.1", f"Content-Length: {len(body)}", "Connection: close"]
    return said(port, "\r\n".join([*lines, *headers, "", body]))


def shake_hands(port: int, *headers: str, target: str = "/live") -> Answer:
    return said(port, "\r\n".join([f"GET {target} HTTP/1.1", *UPGRADE, *headers, "", ""]))


def said(port: int, request: str) -> Answer:
    """Until the other side has no more to say, or has let a listener in."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as sock:
        sock.sendall(request.encode())
        heard = b""
        while b" 101 " not in heard and (chunk := sock.recv(65536)):
            heard += chunk
    head, _, body = heard.decode().partition("\r\n\r\n")
    return Answer(int(head.split()[1]) if head else 0, head.lower(), body)


# --- by which name ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "LOCALHOST:8000", "[::1]", "[::1]:8000", "127.0.0.1:1"]
)
def test_this_machine_is_known_by_its_own_names(port: int, host: str) -> None:
    assert ask(port, "GET /_local/clock", f"Host: {host}").status == 200
    assert shake_hands(port, f"Host: {host}").status == 101


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
        TUNNEL,
        "127.0.0.1\r\nHost: evil.example",
    ],
)
def test_a_name_that_only_leads_here_is_refused(port: int, host: str) -> None:
    for first_line in ("GET /_local/outbox", "POST /_local/reset", "GET /", "GET /nowhere"):
        answer = ask(port, first_line, f"Host: {host}")
        assert answer.status == 421
        assert "content-type: application/problem+json" in answer.head
        assert "Host header" in json.loads(answer.body)["detail"]
    assert shake_hands(port, f"Host: {host}").status == 421


def test_a_program_may_name_no_host_and_a_page_may_not(port: int) -> None:
    assert said(port, "GET /_local/clock HTTP/1.0\r\n\r\n").status == 200
    origin = "Origin: http://127.0.0.1:8000"
    assert said(port, f"GET /_local/clock HTTP/1.0\r\n{origin}\r\n\r\n").status == 421
    assert shake_hands(port, origin).status == 421


def test_a_tunnel_leads_to_the_platforms_webhooks_and_to_nothing_else(port: int) -> None:
    host = f"Host: {TUNNEL.upper()}:443"
    assert ask(port, "POST /webhooks/telegram", host, body="{}").status == 401
    for path in ("/webhooks/console", "/webhooks/%63onsole", "/_local/reset", "/tasks", "//[x"):
        assert ask(port, f"POST {path}", host, body=SAID).status == 421
    assert shake_hands(port, host, target="/webhooks/telegram").status == 421
    assert ask(port, "POST /webhooks/telegram", "Host: x.tunnel.example").status == 421


# --- from which page --------------------------------------------------------------------------


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
def test_a_page_of_another_website_changes_nothing(
    served: tuple[StackClient, str], port: int, origin: str
) -> None:
    task = served[0].create(**{"in": "1h"})
    before = len(served[0].sent())
    headers = ("Host: 127.0.0.1:8000", f"Origin: {origin}")
    for first_line in (
        *("POST /_local/reset", "POST /%5flocal/reset", "POST http://x/_local/reset"),
        *("POST /_local/clock", "DELETE /_local/faults", "POST /webhooks/console"),
    ):
        answer = ask(port, first_line, *headers, body=SAID)
        assert answer.status == 403
        assert "Origin" in json.loads(answer.body)["detail"]
    assert served[0].task(task["id"])["status"] == "pending"
    assert len(served[0].sent()) == before


def test_our_own_page_and_programs_may_change_everything(port: int) -> None:
    for headers in (["Origin: http://localhost:8000"], []):
        asked = ["Host: localhost:8000", *headers]
        assert ask(port, "POST /webhooks/console", *asked, body=SAID).status == 200
        assert ask(port, "POST /_local/reset", *asked).status == 200


@pytest.mark.parametrize(
    "origin", ["http://localhost", "http://127.0.0.1", "https://127.0.0.1:8000", "http://x@y"]
)
def test_a_page_of_another_website_hears_nothing(port: int, origin: str) -> None:
    assert shake_hands(port, "Host: 127.0.0.1:8000", f"Origin: {origin}").status == 403


# --- what is answered -------------------------------------------------------------------------


def test_a_listener_whose_target_cannot_be_read_is_told_so(
    port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shake_hands(port, "Host: 127.0.0.1", target="http://[::1/").status == 400
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
def test_nothing_is_taken_for_what_it_is_not(port: int, first_line: str, status: int) -> None:
    answer = ask(port, first_line, "Host: localhost", "Authorization: Bearer local")
    assert answer.status == status
    assert "x-content-type-options: nosniff" in answer.head
    assert "referrer-policy: no-referrer" in answer.head


def test_no_tunnel_leads_here_unless_it_was_named(
    served: tuple[StackClient, str],
) -> None:
    port = int(urlsplit(served[1]).port or 0)
    assert ask(port, "POST /webhooks/telegram", f"Host: {TUNNEL}", body="{}").status == 421
