"""The server of the local stack, given malformed requests."""

from __future__ import annotations

import http.client
import json
from urllib.parse import urlsplit

import pytest

from local.runtime.server import BODY_LIMIT
from tests.support.stack_client import StackClient

Served = tuple[StackClient, str]
TOKEN = ("Authorization", "Bearer local")


def send_request(
    served: Served, method: str, *headers: tuple[str, str], body: bytes = b""
) -> tuple[int, str]:
    connection = http.client.HTTPConnection(urlsplit(served[1]).netloc, timeout=30)
    try:
        connection.putrequest(method, "/tasks")
        for name, value in headers:
            connection.putheader(name, value)
        connection.endheaders(body or None)
        response = connection.getresponse()
        return response.status, str(json.loads(response.read()).get("detail"))
    finally:
        connection.close()


@pytest.mark.parametrize("other", ["Bearer wrong", "Bearer local"])
def test_a_request_with_two_tokens_is_refused(served: Served, other: str) -> None:
    assert send_request(served, "GET", TOKEN)[0] == 200
    for headers in ([TOKEN, ("authorization", other)], [("authorization", other), TOKEN]):
        assert send_request(served, "GET", *headers)[0] == 401


def test_a_request_with_two_content_lengths_is_refused(served: Served) -> None:
    lengths = [("Content-Length", "2"), ("Content-Length", "40")]
    assert send_request(served, "POST", TOKEN, *lengths, body=b"{}")[0] == 411


def test_a_too_large_body_gets_a_413(served: Served) -> None:
    body = b"x" * (BODY_LIMIT + 1)
    status, detail = send_request(
        served, "POST", TOKEN, ("Content-Length", str(len(body))), body=body
    )
    assert (status, detail) == (413, "the body is over 10,485,760 bytes")
