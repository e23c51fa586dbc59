"""The WebSocket handshake: its token, its subprotocol and the allowed origins."""

from __future__ import annotations

import base64

import pytest
from duecourse.domain.events.handshake import ConnectRequest

HOST = "abc.execute-api.eu-central-1.amazonaws.com"
ALLOWED_ORIGINS = ("https://status.example.com", "https://ops.example.com:8443/")


def a_connect_request(query: dict[str, str] | None = None, **headers: str) -> ConnectRequest:
    header_fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return ConnectRequest(connection_id="c", host=HOST, headers=header_fields, query=query or {})


def request_with_protocols(*protocols: str) -> ConnectRequest:
    return a_connect_request(sec_websocket_protocol=", ".join(protocols))


def encode_secret(secret: str) -> str:
    return "bearer." + base64.urlsafe_b64encode(secret.encode()).decode().rstrip("=")


@pytest.mark.parametrize("secret", ["local", "a", "ab", "abc", "ÿ?>ß", "x" * 1_000])
def test_a_token_is_parsed_from_the_subprotocols(secret: str) -> None:
    assert request_with_protocols("duecourse", encode_secret(secret)).secret == secret
    assert request_with_protocols(encode_secret(secret), "duecourse").secret == secret


def test_a_token_is_parsed_from_the_header_or_the_query() -> None:
    assert a_connect_request(authorization="Bearer s3").secret == "s3"
    assert a_connect_request({"token": "s3"}).secret == "s3"


@pytest.mark.parametrize(
    "connect_request",
    [
        a_connect_request(),
        a_connect_request({"token": ""}),
        a_connect_request(authorization="Basic bWU6bG9jYWw="),
        a_connect_request(authorization="Bearer "),
        request_with_protocols("duecourse"),
        request_with_protocols("bearer."),
        request_with_protocols("bearer.%%%"),
        request_with_protocols("bearer._w"),
        request_with_protocols(encode_secret("one"), encode_secret("two")),
        a_connect_request({"token": "one"}, authorization="Bearer one"),
        a_connect_request({"token": "one"}, authorization="nonsense"),
    ],
    ids=range(11),
)
def test_a_missing_invalid_or_duplicate_token_gives_no_secret(
    connect_request: ConnectRequest,
) -> None:
    assert not connect_request.secret


def test_the_subprotocol_is_answered_only_if_it_was_offered() -> None:
    assert request_with_protocols("duecourse", encode_secret("x")).subprotocol == "duecourse"
    assert request_with_protocols(encode_secret("x")).subprotocol is None
    assert a_connect_request().subprotocol is None


@pytest.mark.parametrize(
    "origin",
    [
        f"https://{HOST}",
        f"https://{HOST.upper()}",
        f"https://{HOST}:443",
        "https://status.example.com",
        "https://ops.example.com:8443",
    ],
)
def test_the_own_origin_and_configured_origins_are_allowed(origin: str) -> None:
    assert a_connect_request(origin=origin, x_forwarded_proto="https").is_allowed_origin(
        ALLOWED_ORIGINS
    )


@pytest.mark.parametrize(
    "origin",
    [
        "",
        "null",
        "https://evil.example",
        f"https://{HOST}.evil.example",
        f"https://{HOST}:8443",
        "http://status.example.com",
        "https://status.example.com:8443",
        "https://status.example.com.evil.example",
        "https://[::1",
        "https://status.example.com:x",
        f"file://{HOST}",
        f"http://{HOST}",
        f"http://{HOST}:443",
        f"https://{HOST}:0",
        f"https://me@{HOST}",
        f"https://@{HOST}",
        f"https://{HOST}?x",
        f"https://{HOST}#x",
        "https://me:x@status.example.com",
    ],
)
def test_other_origins_are_rejected(origin: str) -> None:
    assert not a_connect_request(origin=origin, x_forwarded_proto="https").is_allowed_origin(
        ALLOWED_ORIGINS
    )


def test_a_request_without_an_origin_is_allowed() -> None:
    assert a_connect_request().is_allowed_origin(())


def test_the_host_header_is_the_own_origin_on_a_laptop() -> None:
    connect_request = a_connect_request(host="127.0.0.1:8000", origin="http://127.0.0.1:8000")
    assert connect_request.is_allowed_origin(())


@pytest.mark.parametrize(
    "origin",
    [
        "http://127.0.0.1:9000",
        "http://127.0.0.1",
        "https://127.0.0.1:8000",
        "http://localhost:8000",
        "http://me@127.0.0.1:8000",
        f"http://{HOST}",
        f"https://{HOST}",
    ],
)
def test_another_scheme_port_or_name_on_a_laptop_is_rejected(origin: str) -> None:
    assert not a_connect_request(host="127.0.0.1:8000", origin=origin).is_allowed_origin(())


def test_the_host_header_is_ignored_behind_api_gateway() -> None:
    def request_from_page(origin: str) -> ConnectRequest:
        return a_connect_request(origin=origin, host="evil.example", x_forwarded_proto="https")

    assert not request_from_page("https://evil.example").is_allowed_origin(())
    assert request_from_page(f"https://{HOST}").is_allowed_origin(())


def test_an_origin_without_a_host_header_is_rejected() -> None:
    assert not a_connect_request(origin="http://127.0.0.1:8000").is_allowed_origin(())
