"""The client against servers that are down, broken or untrusted."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from duecourse.domain.http.url import parse_url

from local.cli.client.http import ApiClient
from local.cli.client.server import Server as ServerNamed
from local.cli.errors import CommandFailedError
from tests.cli.command_client import TOKEN, CommandClient, check_error, serve_receiver
from tests.support.receiver import Receiver
from tests.support.stack_client import StackClient
from tests.unit.adapters.http.test_client import Authority


def test_a_refused_connection_suggests_starting_the_stack(
    duecourse: CommandClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Receiver() as stopped_server:
        monkeypatch.setenv("DUECOURSE_URL", stopped_server.url(""))

    error_line = check_error(duecourse("tasks"))
    assert "start the local stack with `make up`" in error_line
    assert "DUECOURSE_URL" in error_line


def test_a_wrong_token_names_where_tokens_come_from(
    duecourse: CommandClient, stack: StackClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stack.items("/tasks") == []
    monkeypatch.setenv("DUECOURSE_TOKEN", TOKEN)

    error_line = check_error(duecourse("tasks"))
    assert "DUECOURSE_TOKEN" in error_line
    assert "make up" in error_line


def test_a_rejected_default_token_is_not_called_a_setting(
    duecourse: CommandClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve_receiver(monkeypatch) as server:
        monkeypatch.delenv("DUECOURSE_TOKEN")
        server.answer(401, b"{}")

        error_line = check_error(duecourse("tasks"))
    assert "rejected the local stack's default token (DUECOURSE_TOKEN is not set;" in error_line


@pytest.mark.parametrize(
    "url",
    [
        *("ftp://x", "127.0.0.1:8000", "http://", "http://u:p@127.0.0.1", "https://x/?a=b"),
        *("http://example.com", "http://10.0.0.1", "https://x\n", "file:///etc/passwd"),
    ],
)
def test_an_unusable_url_is_bad_usage(
    duecourse: CommandClient, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("DUECOURSE_URL", url)

    assert "DUECOURSE_URL" in check_error(duecourse("tasks"), code=2)


@pytest.mark.parametrize("token", ["two words", "line\nbreak", "\u00fc"])
def test_a_token_that_no_header_can_hold_is_bad_usage(
    duecourse: CommandClient, monkeypatch: pytest.MonkeyPatch, token: str
) -> None:
    monkeypatch.setenv("DUECOURSE_TOKEN", token)

    assert token not in check_error(duecourse("tasks"), code=2)


def test_a_redirect_is_not_followed(
    duecourse: CommandClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve_receiver(monkeypatch) as server, Receiver() as elsewhere:
        server.redirect(elsewhere.url("/tasks"))

        assert "not followed" in check_error(duecourse("tasks"))
        assert elsewhere.connections == 0


def test_a_stage_in_the_url_prefixes_every_path(
    duecourse: CommandClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve_receiver(monkeypatch) as server:
        monkeypatch.setenv("DUECOURSE_URL", server.url("/prod/"))
        server.answer(200, b'{"items": []}')

        assert duecourse("tasks").code == 0
        assert server.requests[0].path == "/prod/tasks?limit=50"
        assert server.requests[0].headers["authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize(
    ("status", "body", "expected"),
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
def test_an_unexpected_response_is_one_line(
    duecourse: CommandClient,
    monkeypatch: pytest.MonkeyPatch,
    status: int,
    body: bytes,
    expected: str,
) -> None:
    with serve_receiver(monkeypatch) as server:
        server.answer(status, body)

        assert expected in check_error(duecourse("tasks"))


@pytest.mark.parametrize("item", ["{}", '{"due_at": 5, "short_id": [1]}'])
def test_a_task_with_missing_fields_is_printed(
    duecourse: CommandClient, monkeypatch: pytest.MonkeyPatch, item: str
) -> None:
    with serve_receiver(monkeypatch) as server:
        server.answer(200, f'{{"id": "x", "days": 7, "items": [{item}]}}'.encode())

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
def test_a_response_of_another_api_is_reported(
    duecourse: CommandClient, monkeypatch: pytest.MonkeyPatch, command: list[str], body: bytes
) -> None:
    with serve_receiver(monkeypatch) as server:
        server.answer(200, body)

        assert "check DUECOURSE_URL" in check_error(duecourse(*command))


@pytest.mark.parametrize("behaviour", ["drop_connection", "truncate_body"])
def test_a_closed_connection_is_one_line(
    duecourse: CommandClient, monkeypatch: pytest.MonkeyPatch, behaviour: str
) -> None:
    with serve_receiver(monkeypatch) as server:
        getattr(server, behaviour)()

        check_error(duecourse("tasks"))


@pytest.mark.parametrize("behaviour", ["never_reply", "drip_headers", "drip_body"])
def test_an_endless_response_times_out(behaviour: str) -> None:
    with Receiver() as server:
        getattr(server, behaviour)()
        target = ServerNamed(parse_url(server.url("")), TOKEN)

        with pytest.raises(CommandFailedError, match=r"did not answer within 0\.2 seconds"):
            ApiClient(target, timeout=timedelta(seconds=0.2)).get("/tasks")


def test_an_untrusted_certificate_ends_the_command(tmp_path: Path) -> None:
    with Authority(tmp_path).receiver("localhost") as server:
        target = ServerNamed(parse_url(server.url("", host="localhost")), TOKEN)

        with pytest.raises(CommandFailedError, match="no trusted TLS connection"):
            ApiClient(target).get("/tasks")
        assert server.requests == []


def test_the_repr_of_the_server_omits_the_token() -> None:
    assert TOKEN not in repr(ServerNamed(parse_url("https://x"), TOKEN))
