"""What is shown at the door of the WebSocket, and which websites are let in."""

from __future__ import annotations

import base64

import pytest
from duecourse.domain.events.handshake import ConnectRequest

HOST = "abc.execute-api.eu-central-1.amazonaws.com"
OTHERS = ("https://status.example.com", "https://ops.example.com:8443/")


def a_knock(query: dict[str, str] | None = None, **headers: str) -> ConnectRequest:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return ConnectRequest(connection_id="c", host=HOST, headers=named, query=query or {})


def offering(*protocols: str) -> ConnectRequest:
    return a_knock(sec_websocket_protocol=", ".join(protocols))


def encoded(secret: str) -> str:
    return "bearer." + base64.urlsafe_b64encode(secret.encode()).decode().rstrip("=")


@pytest.mark.parametrize("secret", ["local", "a", "ab", "abc", "ÿ?>ß", "x" * 1_000])
def test_a_token_is_read_from_the_subprotocols(secret: str) -> None:
    assert offering("duecourse", encoded(secret)).secret == secret
    assert offering(encoded(secret), "duecourse").secret == secret


def test_a_token_is_read_from_the_header_or_the_address() -> None:
    assert a_knock(authorization="Bearer s3").secret == "s3"
    assert a_knock({"token": "s3"}).secret == "s3"


@pytest.mark.parametrize(
    "knock",
    [
        a_knock(),
        a_knock({"token": ""}),
        a_knock(authorization="Basic bWU6bG9jYWw="),
        a_knock(authorization="Bearer "),
        offering("duecourse"),
        offering("bearer."),
        offering("bearer.%%%"),
        offering("bearer._w"),
        offering(encoded("one"), encoded("two")),
        a_knock({"token": "one"}, authorization="Bearer one"),
        a_knock({"token": "one"}, authorization="nonsense"),
    ],
    ids=range(11),
)
def test_no_token_a_broken_one_and_two_of_them_are_none(knock: ConnectRequest) -> None:
    assert not knock.secret


def test_our_subprotocol_is_answered_only_where_it_was_offered() -> None:
    assert offering("duecourse", encoded("x")).subprotocol == "duecourse"
    assert offering(encoded("x")).subprotocol is None
    assert a_knock().subprotocol is None


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
def test_our_own_pages_and_those_that_were_named_are_let_in(origin: str) -> None:
    assert a_knock(origin=origin, x_forwarded_proto="https").is_allowed_origin(OTHERS)


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
def test_pages_of_other_websites_are_not(origin: str) -> None:
    assert not a_knock(origin=origin, x_forwarded_proto="https").is_allowed_origin(OTHERS)


def test_a_program_names_no_website() -> None:
    assert a_knock().is_allowed_origin(())


def test_the_host_that_was_asked_for_is_our_own() -> None:
    knock = a_knock(host="127.0.0.1:8000", origin="http://127.0.0.1:8000")
    assert knock.is_allowed_origin(())


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
def test_another_scheme_port_or_name_on_the_laptop_is_another_website(origin: str) -> None:
    assert not a_knock(host="127.0.0.1:8000", origin=origin).is_allowed_origin(())


def test_the_name_that_was_asked_for_is_not_believed_where_api_gateway_says_its_own() -> None:
    def from_page(origin: str) -> ConnectRequest:
        return a_knock(origin=origin, host="evil.example", x_forwarded_proto="https")

    assert not from_page("https://evil.example").is_allowed_origin(())
    assert from_page(f"https://{HOST}").is_allowed_origin(())


def test_a_page_is_nobodys_where_no_host_was_asked_for() -> None:
    assert not a_knock(origin="http://127.0.0.1:8000").is_allowed_origin(())
