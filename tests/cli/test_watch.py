"""`duecourse watch`: prints live events and reconnects."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from duecourse.app import stores
from duecourse.usecases.events import connect

from tests.cli.command_client import TOKEN, CommandClient, check_error, serve_receiver
from tests.support.stack_client import StackClient

TIMEOUT_SECONDS = 20.0


@contextmanager
def run_once_connected(stack: StackClient, do: Callable[[], object]) -> Iterator[None]:
    """Call `do` in the background as soon as the client is connected."""

    def wait_and_do() -> None:
        assert stack.stack.websocket_api.wait_for_connections(1, TIMEOUT_SECONDS)
        do()

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(wait_and_do)
        yield
        future.result()


def deliver_reminder(stack: StackClient) -> None:
    stack.create(description="stretch", **{"in": "5s"})
    stack.advance("6s")


def test_events_are_printed_one_per_line(duecourse: CommandClient, stack: StackClient) -> None:
    with run_once_connected(stack, lambda: deliver_reminder(stack)):
        result = duecourse("watch", "--count", "3")

    assert (result.code, result.err) == (0, "")
    types = [line.split()[3] for line in result.out.splitlines()]
    assert types == ["task:created", "task:started", "task:delivered"]
    assert stack.items("/tasks")[0]["id"][:8] in result.out


def test_json_output_is_one_event_per_line(duecourse: CommandClient, stack: StackClient) -> None:
    with run_once_connected(stack, lambda: deliver_reminder(stack)):
        result = duecourse("watch", "--count", "2", "--json")

    events = [json.loads(line) for line in result.out.splitlines()]
    assert [event["type"] for event in events] == ["task:created", "task:started"]


def test_only_requested_events_are_printed(duecourse: CommandClient, stack: StackClient) -> None:
    def deliver_once_subscribed() -> None:
        for _ in range(1_000):
            [connection] = stack.stack.scheduler.call(lambda: stores.connections().list_all())
            if connection.subscription.types:
                break
        deliver_reminder(stack)

    with run_once_connected(stack, deliver_once_subscribed):
        filters = ("--type", "task:delivered", "--type", "breaker:", "--sender", "ada")
        result = duecourse("watch", "--count", "1", *filters)

    assert "task:delivered" in result.out


def test_a_closed_connection_is_reopened(duecourse: CommandClient, stack: StackClient) -> None:
    def reset_and_create() -> None:
        stack.call("POST", "/_local/reset")
        assert stack.stack.websocket_api.wait_for_connections(1, TIMEOUT_SECONDS)
        stack.create(**{"in": "1h"})

    with run_once_connected(stack, reset_and_create):
        result = duecourse("watch", "--count", "1")

    assert "task:created" in result.out
    assert result.err == "duecourse: disconnected; reconnecting\n"


def test_control_characters_in_events_are_not_printed(
    duecourse: CommandClient, stack: StackClient
) -> None:
    message = json.dumps({"type": "task:\x1b[2J", "task_id": "\x1b]0;x", "detail": {"a": "\x07"}})
    with run_once_connected(stack, lambda: stack.stack.websocket_api.broadcast(message)):
        result = duecourse("watch", "--count", "1")

    assert result.out.isprintable() is False  # because of its newline only
    assert result.out.rstrip("\n").isprintable()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--type", "task:exploded"], "types: must be types such as task:failed"),
        (["--task", "0a1b"], "task_id: must be an id"),
        (["--count", "0"], "--count: 0 is not a whole number of at least 1"),
    ],
)
def test_bad_usage_names_the_flag(
    duecourse: CommandClient, stack: StackClient, arguments: list[str], problem: str
) -> None:
    assert stack.items("/tasks") == []
    assert problem in check_error(duecourse("watch", *arguments), code=2)


def test_a_wrong_token_is_reported(
    duecourse: CommandClient, stack: StackClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stack.items("/tasks") == []
    monkeypatch.setenv("DUECOURSE_TOKEN", TOKEN)
    assert "Invalid token" in check_error(duecourse("watch"))


def test_one_connection_too_many_is_reported(
    duecourse: CommandClient, stack: StackClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stack.items("/tasks") == []
    monkeypatch.setattr(connect, "MAX_CONNECTIONS_PER_TOKEN", 0)
    error_line = check_error(duecourse("watch"))
    assert "This token has too many open connections: close some" in error_line


def test_a_refused_connection_suggests_starting_the_stack(
    duecourse: CommandClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve_receiver(monkeypatch):
        pass
    error_line = check_error(duecourse("watch"))
    assert "start the local stack with `make up`" in error_line
    assert "DUECOURSE_URL" in error_line


def test_a_url_of_another_server_is_reported(
    duecourse: CommandClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve_receiver(monkeypatch):
        assert "check DUECOURSE_LIVE_URL" in check_error(duecourse("watch"))


@pytest.mark.parametrize(
    ("url", "live_url"),
    [
        ("https://api.example.com", None),
        ("https://api.example.com", "https://live.example.com"),
        ("https://api.example.com", "ws://live.example.com/live"),
        ("https://api.example.com", "wss://u:p@live.example.com/live"),
    ],
)
def test_a_deployed_stack_needs_a_valid_live_url(
    duecourse: CommandClient, monkeypatch: pytest.MonkeyPatch, url: str, live_url: str | None
) -> None:
    monkeypatch.setenv("DUECOURSE_URL", url)
    monkeypatch.setenv("DUECOURSE_TOKEN", TOKEN)
    if live_url is not None:
        monkeypatch.setenv("DUECOURSE_LIVE_URL", live_url)
    assert "DUECOURSE_LIVE_URL must" in check_error(duecourse("watch"), code=2)
