"""The client against servers that are not there, not well, or not to be trusted."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from duecourse.domain.http.url import parse_url

from local.cli.client.http import ApiClient
from local.cli.client.server import Server as ServerNamed
from local.cli.errors import CommandFailedError
from tests.cli.client import TOKEN, Client, a_server, an_error
from tests.support.receiver import Receiver
from tests.support.stack_client import StackClient
from tests.unit.adapters.http.test_client import Authority


def test_a_refused_connection_asks_whether_the_stack_is_up(
    duecourse: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Receiver() as gone:
        monkeypatch.setenv("DUECOURSE_URL", gone.url(""))

    said = an_error(duecourse("tasks"))
    assert "start the local stack with `make up`" in said
    assert "DUECOURSE_URL" in said


def test_a_wrong_token_is_told_where_tokens_come_from(
    duecourse: Client, stack: StackClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stack.items("/tasks") == []
    monkeypatch.setenv("DUECOURSE_TOKEN", TOKEN)

    said = an_error(duecourse("tasks"))
    assert "DUECOURSE_TOKEN" in said
    assert "make up" in said


@pytest.mark.parametrize(
    "url",
    [
        *("ftp://x", "127.0.0.1:8000", "http://", "http://u:p@127.0.0.1", "https://x/?a=b"),
        *("http://example.com", "http://10.0.0.1", "https://x\n", "file:///etc/passwd"),
    ],
)
def test_a_url_that_cannot_be_asked_is_bad_usage(
    duecourse: Client, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("DUECOURSE_URL", url)

    assert "DUECOURSE_URL" in an_error(duecourse("tasks"), code=2)


@pytest.mark.parametrize("token", ["two words", "line\nbreak", "\u00fc"])
def test_a_token_that_cannot_be_sent_is_bad_usage(
    duecourse: Client, monkeypatch: pytest.MonkeyPatch, token: str
) -> None:
    monkeypatch.setenv("DUECOURSE_TOKEN", token)

    assert token not in an_error(duecourse("tasks"), code=2)


def test_a_redirect_is_not_followed(duecourse: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    with a_server(monkeypatch) as server, Receiver() as elsewhere:
        server.redirect(elsewhere.url("/tasks"))

        assert "not followed" in an_error(duecourse("tasks"))
        assert elsewhere.connections == 0


def test_a_stage_in_the_url_stays_in_front(
    duecourse: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    with a_server(monkeypatch) as server:
        monkeypatch.setenv("DUECOURSE_URL", server.url("/prod/"))
        server.answer(200, b'{"items": []}')

        assert duecourse("tasks").code == 0
        assert server.requests[0].path == "/prod/tasks?limit=50"
        assert server.requests[0].headers["authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (200, b"<html>", "did not answer with JSON"),
        (200, b"[]", "did not answer with JSON"),
        (200, b'{"items": 5}', "not a list"),
        (200, b'{"items": [5]}', "not a list"),
        (200, b"[" * 100_000, "did not answer with JSON"),
        (502, b"<html>Bad Gateway", "502"),
        (500, b'{"detail": "something went wrong here"}', "something went wrong here (500)"),
        (403, b'{"message": "Forbidden"}', "Forbidden (403)"),
        (404, b'{"detail": "no \\u001b[31mroute"}', "no \\x1b[31mroute"),
        (422, b'{"detail": "x", "errors": "y"}', "x"),
    ],
)
def test_an_answer_that_is_not_as_it_should_be_is_one_line(
    duecourse: Client, monkeypatch: pytest.MonkeyPatch, status: int, body: bytes, said: str
) -> None:
    with a_server(monkeypatch) as server:
        server.answer(status, body)

        assert said in an_error(duecourse("tasks"))


@pytest.mark.parametrize("odd", ["{}", '{"due_at": 5, "short_id": [1]}'])
def test_a_task_with_holes_is_shown_with_holes(
    duecourse: Client, monkeypatch: pytest.MonkeyPatch, odd: str
) -> None:
    with a_server(monkeypatch) as server:
        server.answer(200, f'{{"id": "x", "days": 7, "items": [{odd}]}}'.encode())

        for command in (["tasks"], ["task", "00000000", "--runs", "--history", "--errors"]):
            assert duecourse(*command).code == 0
        assert duecourse("stats").code == 0


@pytest.mark.parametrize(
    "command",
    [
        *(["tasks"], ["task", "00000000"], ["stats"], ["cancel", "00000000"]),
        *(["retry", "00000000"], ["add", "x", "--in", "1h"], ["add", "x", "--in", "1h", "--json"]),
    ],
)
@pytest.mark.parametrize("body", [b"{}", b'{"id": 5, "days": "x", "items": {}}'])
def test_what_answers_as_no_duecourse_would_is_none(
    duecourse: Client, monkeypatch: pytest.MonkeyPatch, command: list[str], body: bytes
) -> None:
    with a_server(monkeypatch) as server:
        server.answer(200, body)

        assert "check DUECOURSE_URL" in an_error(duecourse(*command))


@pytest.mark.parametrize("manner", ["drop", "cut_short"])
def test_a_server_that_hangs_up_is_one_line(
    duecourse: Client, monkeypatch: pytest.MonkeyPatch, manner: str
) -> None:
    with a_server(monkeypatch) as server:
        getattr(server, manner)()

        an_error(duecourse("tasks"))


@pytest.mark.parametrize("manner", ["hold", "drip_headers", "drip_body"])
def test_a_server_that_never_comes_to_its_end_is_left(manner: str) -> None:
    with Receiver() as server:
        getattr(server, manner)()
        named = ServerNamed(parse_url(server.url("")), TOKEN)

        with pytest.raises(CommandFailedError, match=r"did not answer within 0\.2 seconds"):
            ApiClient(named, timeout=timedelta(seconds=0.2)).get("/tasks")


def test_a_certificate_that_cannot_be_trusted_ends_it(tmp_path: Path) -> None:
    with Authority(tmp_path).receiver("localhost") as server:
        named = ServerNamed(parse_url(server.url("", host="localhost")), TOKEN)

        with pytest.raises(CommandFailedError, match="no trusted TLS connection"):
            ApiClient(named).get("/tasks")
        assert server.requests == []


def test_the_token_is_in_no_text_of_the_server() -> None:
    assert TOKEN not in repr(ServerNamed(parse_url("https://x"), TOKEN))
