"""One exchange on an open socket: what is written, and every form of response."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from http.client import BadStatusLine, HTTPException, IncompleteRead

import pytest
from duecourse.adapters.aws.http_exchange import Response, encode_head, exchange, host_of

URL = "http://127.0.0.1:4566/"


@pytest.fixture
def sockets() -> Iterator[tuple[socket.socket, socket.socket]]:
    client, server = socket.socketpair()
    client.settimeout(1)
    with client, server:
        yield client, server


def receive(sockets: tuple[socket.socket, socket.socket], answer: bytes) -> Response:
    client, server = sockets
    server.sendall(answer)
    server.shutdown(socket.SHUT_WR)
    return exchange(client, URL, {"Content-Length": "2"}, b"{}")


def test_the_request_is_one_post_with_its_host(
    sockets: tuple[socket.socket, socket.socket],
) -> None:
    receive(sockets, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    assert sockets[1].recv(1000) == (
        b"POST / HTTP/1.1\r\nHost: 127.0.0.1:4566\r\nAccept-Encoding: identity\r\n"
        b"Content-Length: 2\r\n\r\n{}"
    )


@pytest.mark.parametrize("value", ["a\r\nX-Injected: 1", "a\nb", "a\rb"])
def test_a_header_with_a_line_break_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="line break"):
        encode_head(URL, {"X-Amz-Security-Token": value})


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://sqs.eu-central-1.amazonaws.com/", "sqs.eu-central-1.amazonaws.com"),
        ("https://sqs.test:443/", "sqs.test"),
        ("http://sqs.test:443/", "sqs.test:443"),
        ("http://[::1]:4566/", "[::1]:4566"),
        ("http://[::1]/", "[::1]"),
    ],
)
def test_the_host_has_the_port_where_it_is_not_the_default(url: str, host: str) -> None:
    assert host_of(url) == host


@pytest.mark.parametrize(
    ("answer", "body", "must_close"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", b"ok", False),
        (b"HTTP/1.1 200\r\ncontent-length:2\r\n\r\nok", b"ok", False),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: Close\r\n\r\nok", b"ok", True),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", b"ok", True),
        (b"HTTP/1.1 200 OK\r\n\r\nuntil the end", b"until the end", True),
        (
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
            b"ok",
            False,
        ),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + b"x" * 100_000,
            b"x" * 100_000,
            False,
        ),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
            b"ok",
            False,
        ),
    ],
)
def test_every_form_of_body_is_read(
    sockets: tuple[socket.socket, socket.socket], answer: bytes, body: bytes, must_close: bool
) -> None:
    response = receive(sockets, answer)

    assert (response.status, response.body, response.must_close) == (200, body, must_close)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (b"", BadStatusLine),
        (b"nonsense\r\n\r\n", BadStatusLine),
        (b"HTTP/1.1 abc\r\n\r\n", BadStatusLine),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", IncompleteRead),
        (b"HTTP/1.1 200 OK\r\nContent-Le", HTTPException),
        (b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", HTTPException),
        (b"HTTP/1.1 200 OK\r\n" + b"A: 1\r\n" * 23_000 + b"\r\n", HTTPException),
    ],
)
def test_a_broken_response_is_an_error(
    sockets: tuple[socket.socket, socket.socket], answer: bytes, error: type[Exception]
) -> None:
    with pytest.raises(error):
        receive(sockets, answer)


def test_headers_are_found_in_any_case(sockets: tuple[socket.socket, socket.socket]) -> None:
    headers = receive(sockets, b"HTTP/1.1 200 OK\r\nX-Id: 7\r\nContent-Length: 0\r\n\r\n").headers

    assert (headers["X-ID"], headers.get("x-id"), "X-Id" in headers) == ("7", "7", True)
    assert headers.get("missing") is None
