"""`duecourse forget`."""

from __future__ import annotations

import io
import json

import pytest

from tests.cli.command_client import CommandClient, serve_receiver
from tests.support.stack_client import StackClient


def test_a_sender_is_forgotten(duecourse: CommandClient, stack: StackClient) -> None:
    kept = stack.create(**{"in": "5m"}, sender_id="bob")
    stack.create(**{"in": "5m"}, sender_id="ada:home")

    result = duecourse("forget", "console:ada:home", "--yes")

    assert (result.code, result.out) == (
        0,
        "Deleted 1 task and the settings. The history is erased within minutes.\n",
    )
    assert [task["id"] for task in stack.items("/tasks")] == [kept["id"]]


def test_a_sender_with_settings_only_is_forgotten(
    duecourse: CommandClient, stack: StackClient
) -> None:
    stack.say("/timezone Asia/Tokyo")

    assert duecourse("forget", "console:ada", "--yes").out.startswith("Deleted 0 tasks and the set")


def test_an_unknown_sender_is_reported(duecourse: CommandClient, stack: StackClient) -> None:
    stack.create(**{"in": "5m"}, sender_id="ada")

    result = duecourse("forget", "console:adda", "--yes")

    assert (result.code, result.err) == (0, "")
    assert result.out == (
        "Nothing was stored for console:adda, so nothing was deleted."
        " Check the channel and the sender's id.\n"
    )
    assert duecourse("forget", "console:adda", "--yes", "--json").json == {
        "deleted_tasks": 0,
        "deleted_settings": False,
        "deleted_dead_letters": 0,
        "complete": True,
    }


def test_deleted_dead_letters_are_reported(
    duecourse: CommandClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve_receiver(monkeypatch) as server:
        for count, is_complete in ((200, False), (7, True)):
            body = {"deleted_tasks": 0, "deleted_settings": False, "complete": is_complete}
            server.answer(200, json.dumps({**body, "deleted_dead_letters": count}).encode())

        result = duecourse("forget", "console:ada", "--yes")

    assert result.out.startswith("Deleted 0 tasks, 207 dead letters and the settings.")


def test_it_requests_until_everything_is_deleted(
    duecourse: CommandClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve_receiver(monkeypatch) as server:
        for count, is_complete in ((200, False), (7, True)):
            body = {"deleted_tasks": count, "deleted_settings": False, "complete": is_complete}
            server.answer(200, json.dumps(body).encode())

        result = duecourse("forget", "slack:T1:U1", "--yes")

        assert len(server.requests) == 2
    assert result.out.startswith("Deleted 207 tasks")
    assert result.err == "deleted 200 tasks so far\n"


@pytest.mark.parametrize("sender", ["ada", "console:", ":ada"])
def test_a_sender_without_channel_or_id_is_bad_usage(duecourse: CommandClient, sender: str) -> None:
    result = duecourse("forget", sender, "--yes")

    assert (result.code, "CHANNEL:SENDER" in result.err) == (2, True)


def test_without_a_terminal_it_needs_yes(
    duecourse: CommandClient, stack: StackClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = stack.create(**{"in": "5m"})
    monkeypatch.setattr("sys.stdin", io.StringIO("yes\n"))

    result = duecourse("forget", "console:ada")

    assert (result.code, "--yes" in result.err) == (2, True)
    assert stack.task(task["id"])["status"] == "pending"


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("typed", "is_deleted"), [("yes\n", True), ("y\n", False), ("", False)])
def test_at_a_terminal_it_asks(
    duecourse: CommandClient,
    stack: StackClient,
    monkeypatch: pytest.MonkeyPatch,
    typed: str,
    is_deleted: bool,
) -> None:
    stack.create(**{"in": "5m"})
    monkeypatch.setattr("sys.stdin", _Terminal(typed))

    result = duecourse("forget", "console:ada")

    assert (result.code, stack.items("/tasks") == []) == (0 if is_deleted else 1, is_deleted)
    assert ("nothing was deleted" in result.err) is not is_deleted
