"""`duecourse watch`: events as they come, through connections that end."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from duecourse.app import stores

from tests.cli.client import TOKEN, Client, a_server, an_error
from tests.support.stack_client import StackClient

PATIENCE = 20.0


@contextmanager
def meanwhile(stack: StackClient, do: Callable[[], object]) -> Iterator[None]:
    """As soon as the client listens."""

    def wait_and_do() -> None:
        assert stack.stack.websocket_api.wait_for_connections(1, PATIENCE)
        do()

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(wait_and_do)
        yield
        done.result()


def a_reminder(stack: StackClient) -> None:
    stack.create(description="stretch", **{"in": "5s"})
    stack.advance("6s")


def test_events_are_shown_a_line_each(duecourse: Client, stack: StackClient) -> None:
    with meanwhile(stack, lambda: a_reminder(stack)):
        done = duecourse("watch", "--count", "3")

    assert (done.code, done.err) == (0, "")
    kinds = [line.split()[3] for line in done.out.splitlines()]
    assert kinds == ["task:created", "task:started", "task:delivered"]
    assert stack.items("/tasks")[0]["id"][:8] in done.out


def test_programs_get_them_as_json(duecourse: Client, stack: StackClient) -> None:
    with meanwhile(stack, lambda: a_reminder(stack)):
        done = duecourse("watch", "--count", "2", "--json")

    events = [json.loads(line) for line in done.out.splitlines()]
    assert [event["type"] for event in events] == ["task:created", "task:started"]


def test_what_is_not_asked_for_is_not_shown(duecourse: Client, stack: StackClient) -> None:
    def once_it_is_known() -> None:
        for _ in range(1_000):
            [known] = stack.stack.scheduler.call(lambda: stores.connections().list_all())
            if known.subscription.types:
                break
        a_reminder(stack)

    with meanwhile(stack, once_it_is_known):
        asked = ("--type", "task:delivered", "--type", "breaker:", "--sender", "ada")
        done = duecourse("watch", "--count", "1", *asked)

    assert "task:delivered" in done.out


def test_a_connection_that_ends_is_made_again(duecourse: Client, stack: StackClient) -> None:
    def ended_and_made_again() -> None:
        stack.call("POST", "/_local/reset")
        assert stack.stack.websocket_api.wait_for_connections(1, PATIENCE)
        stack.create(**{"in": "1h"})

    with meanwhile(stack, ended_and_made_again):
        done = duecourse("watch", "--count", "1")

    assert "task:created" in done.out
    assert done.err == "duecourse: disconnected; reconnecting\n"


def test_what_an_event_holds_cannot_move_the_cursor(duecourse: Client, stack: StackClient) -> None:
    message = json.dumps({"type": "task:\x1b[2J", "task_id": "\x1b]0;x", "detail": {"a": "\x07"}})
    with meanwhile(stack, lambda: stack.stack.websocket_api.broadcast(message)):
        done = duecourse("watch", "--count", "1")

    assert done.out.isprintable() is False  # for its end of line only
    assert done.out.rstrip("\n").isprintable()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--type", "task:exploded"], "types: must be types such as task:failed"),
        (["--task", "0a1b"], "task_id: must be an id"),
        (["--count", "0"], "--count: 0 is not a whole number of at least 1"),
    ],
)
def test_bad_usage_is_told(
    duecourse: Client, stack: StackClient, arguments: list[str], problem: str
) -> None:
    assert stack.items("/tasks") == []
    assert problem in an_error(duecourse("watch", *arguments), code=2)


def test_a_wrong_token_is_told(
    duecourse: Client, stack: StackClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stack.items("/tasks") == []
    monkeypatch.setenv("DUECOURSE_TOKEN", TOKEN)
    assert "Invalid token" in an_error(duecourse("watch"))


def test_an_address_where_nobody_answers_is_told(
    duecourse: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    with a_server(monkeypatch):
        pass
    said = an_error(duecourse("watch"))
    assert "start the local stack with `make up`" in said
    assert "DUECOURSE_URL" in said


def test_an_address_of_something_else_is_told(
    duecourse: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    with a_server(monkeypatch):
        assert "check DUECOURSE_LIVE_URL" in an_error(duecourse("watch"))


@pytest.mark.parametrize(
    ("url", "live_url"),
    [
        ("https://api.example.com", None),
        ("https://api.example.com", "https://live.example.com"),
        ("https://api.example.com", "ws://live.example.com/live"),
        ("https://api.example.com", "wss://u:p@live.example.com/live"),
    ],
)
def test_a_deployed_stack_is_listened_to_at_the_address_that_was_named(
    duecourse: Client, monkeypatch: pytest.MonkeyPatch, url: str, live_url: str | None
) -> None:
    monkeypatch.setenv("DUECOURSE_URL", url)
    monkeypatch.setenv("DUECOURSE_TOKEN", TOKEN)
    if live_url is not None:
        monkeypatch.setenv("DUECOURSE_LIVE_URL", live_url)
    assert "DUECOURSE_LIVE_URL must" in an_error(duecourse("watch"), code=2)
