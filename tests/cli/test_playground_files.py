"""The playground's files, which only the local stack serves, and the welcome text of `up`."""

from __future__ import annotations

import http.client
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

from local.cli.commands import up
from local.runtime.server import Server
from local.runtime.stack import PLAYGROUND_MODULE
from tests.support.stack_client import StackClient

Served = tuple[StackClient, str]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (PLAYGROUND_MODULE, "text/javascript; charset=utf-8"),
        ("/_local/playground_chat.js", "text/javascript; charset=utf-8"),
        ("/_local/playground.css", "text/css; charset=utf-8"),
    ],
)
def test_a_file_of_the_playground_needs_no_token(served: Served, path: str, kind: str) -> None:
    with urlopen(served[1] + path, timeout=30) as response:  # noqa: S310 - loopback
        assert response.headers["content-type"] == kind
        assert response.headers["cache-control"] == "no-cache"
        assert response.read()


@pytest.mark.parametrize(
    "path", ["/_local/", "/_local/control.py", "/_local/..%2fcontrol.py", "/_local/playground"]
)
def test_no_other_file_is_served(served: Served, path: str) -> None:
    connection = http.client.HTTPConnection(urlsplit(served[1]).netloc, timeout=30)
    connection.request("GET", path)
    assert connection.getresponse().status == 404
    connection.close()


@pytest.mark.parametrize(
    ("error", "is_logged"),
    [(BrokenPipeError(), False), (ConnectionResetError(), False), (KeyError(), True)],
)
def test_a_client_that_disconnects_is_not_logged(
    error: Exception, is_logged: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    server = Server.__new__(Server)  # handle_error needs no socket
    try:
        raise error
    except type(error):
        server.handle_error(None, ("127.0.0.1", 1))
    assert ("Traceback" in capsys.readouterr().err) is is_logged


def test_the_welcome_has_the_url_with_the_token(capsys: pytest.CaptureFixture[str]) -> None:
    up._print_welcome(8123, "a/b#c", "real")
    assert (
        "Dashboard and playground: http://127.0.0.1:8123/#token=a%2Fb%23c\n"
        in capsys.readouterr().out
    )


@pytest.mark.parametrize(
    ("port", "token", "exports"),
    [
        (8000, "local", []),
        (8123, "local", ["DUECOURSE_URL=http://127.0.0.1:8123"]),
        (8000, "it's", ["""DUECOURSE_TOKEN='it'"'"'s'"""]),
        (8123, "mine", ["DUECOURSE_URL=http://127.0.0.1:8123", "DUECOURSE_TOKEN=mine"]),
    ],
)
def test_the_welcome_lists_the_exports_that_the_command_line_needs(
    capsys: pytest.CaptureFixture[str], port: int, token: str, exports: list[str]
) -> None:
    up._print_welcome(port, token, "real")
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if "export" in line] == [
        f"  export {export}" for export in exports
    ]
