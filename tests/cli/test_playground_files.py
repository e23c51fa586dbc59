"""The playground's files: served by the local stack, and by nothing else."""

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
    with urlopen(served[1] + path, timeout=30) as answer:  # noqa: S310 - loopback
        assert answer.headers["content-type"] == kind
        assert answer.headers["cache-control"] == "no-cache"
        assert answer.read()


@pytest.mark.parametrize(
    "path", ["/_local/", "/_local/control.py", "/_local/..%2fcontrol.py", "/_local/playground"]
)
def test_no_other_file_is_served(served: Served, path: str) -> None:
    connection = http.client.HTTPConnection(urlsplit(served[1]).netloc, timeout=30)
    connection.request("GET", path)
    assert connection.getresponse().status == 404
    connection.close()


@pytest.mark.parametrize(
    ("error", "is_news"),
    [(BrokenPipeError(), False), (ConnectionResetError(), False), (KeyError(), True)],
)
def test_whoever_leaves_before_the_answer_is_no_news(
    error: Exception, is_news: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    server = Server.__new__(Server)  # no socket is needed to complain
    try:
        raise error
    except type(error):
        server.handle_error(None, ("127.0.0.1", 1))
    assert ("Traceback" in capsys.readouterr().err) is is_news


def test_the_welcome_names_the_page_with_its_token(capsys: pytest.CaptureFixture[str]) -> None:
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
def test_the_welcome_says_what_the_command_line_must_be_told(
    capsys: pytest.CaptureFixture[str], port: int, token: str, exports: list[str]
) -> None:
    up._print_welcome(port, token, "real")
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if "export" in line] == [f"  export {one}" for one in exports]
