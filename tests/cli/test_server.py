"""The socket of the local stack, where clients are careless."""

from __future__ import annotations

import http.client
import json
from urllib.parse import urlsplit

import pytest

from local.runtime.server import BODY_LIMIT
from tests.support.stack_client import StackClient

Served = tuple[StackClient, str]
TOKEN = ("Authorization", "Bearer local")


def asked(
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
def test_two_tokens_are_none(served: Served, other: str) -> None:
    assert asked(served, "GET", TOKEN)[0] == 200
    for headers in ([TOKEN, ("authorization", other)], [("authorization", other), TOKEN]):
        assert asked(served, "GET", *headers)[0] == 401


def test_two_lengths_are_none(served: Served) -> None:
    lengths = [("Content-Length", "2"), ("Content-Length", "40")]
    assert asked(served, "POST", TOKEN, *lengths, body=b"{}")[0] == 411


def test_a_body_that_is_too_large_is_answered_and_not_hung_up_on(served: Served) -> None:
    body = b"x" * (BODY_LIMIT + 1)
    status, detail = asked(served, "POST", TOKEN, ("Content-Length", str(len(body))), body=body)
    assert (status, detail) == (413, "the body is over 10,485,760 bytes")
