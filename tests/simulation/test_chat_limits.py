"""The limits of each sender in chat: open tasks, series, and the smallest interval."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from tests.support.stack_client import StackClient, running_stack

MAKE_ROOM = "Cancel one to make room: /tasks lists them, /cancel <id> ends one."


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[StackClient]:
    monkeypatch.setenv("CHAT_OPEN_TASKS_LIMIT", "3")
    monkeypatch.setenv("CHAT_OPEN_SERIES_LIMIT", "1")
    with running_stack() as running:
        yield running


def test_open_tasks_are_limited_per_sender(client: StackClient) -> None:
    for n in range(3):
        assert client.say(f"/remind in {n + 1}h tea {n}").startswith("Reminder ")

    assert client.say("/remind in 5h cake") == f"You have reached 3 open tasks. {MAKE_ROOM}"
    assert client.say("/do in 5h cake") == f"You have reached 3 open tasks. {MAKE_ROOM}"
    assert client.say("/remind in 5h cake", sender="bob").startswith("Reminder ")
    client.advance("61m")
    assert client.say("/remind in 5h cake").startswith("Reminder ")


def test_cancelling_makes_room(client: StackClient) -> None:
    ids = [client.say(f"/remind in {n + 1}h tea").split()[1] for n in range(3)]
    client.say(f"/cancel {ids[0]}")

    assert client.say("/remind in 5h cake").startswith("Reminder ")


def test_series_are_limited_per_sender(client: StackClient) -> None:
    assert client.say("/remind every day at 9 tea").startswith("Reminder ")

    for command in ("/remind every week cake", "/do every day at 10 cake"):
        assert client.say(command) == f"You have reached 1 repeating tasks. {MAKE_ROOM}"
    assert client.say("/remind in 1h cake").startswith("Reminder ")


@pytest.mark.parametrize("command", ["/remind", "/do"])
def test_a_series_must_not_come_too_often(client: StackClient, command: str) -> None:
    refused = "That is too often. The shortest interval is: every 15 minutes."
    for interval in ("every minute", "every 5 minutes", "every 14 minutes"):
        assert client.say(f"{command} {interval} tea") == refused

    assert client.items("/tasks") == []
    assert "every 15 minutes" in client.say(f"{command} every 15 minutes tea")


def test_a_snooze_that_makes_a_task_needs_room(client: StackClient) -> None:
    task_id = client.say("/remind in 10s tea").split()[1]
    client.advance("11s")
    for n in range(3):
        client.say(f"/remind in {n + 1}h cake")

    assert client.say(f"/snooze {task_id} 1h") == f"You have reached 3 open tasks. {MAKE_ROOM}"


def test_programs_are_not_limited(client: StackClient) -> None:
    for _ in range(4):
        client.create(repeat="FREQ=MINUTELY", **{"in": "1h"})

    assert client.say("/remind in 1h tea") == f"You have reached 3 open tasks. {MAKE_ROOM}"


def test_messages_at_once_do_not_exceed_the_limit(client: StackClient) -> None:
    """The queue hands out one message of a sender at a time."""
    bodies = [{"sender_id": "ada", "text": f"/remind in {n + 1}h tea"} for n in range(8)]
    threads = [
        threading.Thread(
            target=client.call, args=["POST", "/webhooks/console", body], kwargs={"token": None}
        )
        for body in bodies
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    client.advance("1s")

    assert len(client.items("/tasks")) == 3
    assert len(client.outbox("ada")) == 8


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_redelivered_message_is_confirmed_at_the_limit(client: StackClient, when: str) -> None:
    """The third task counts for the fourth message, not for its own when it comes again."""
    for n in range(2):
        client.say(f"/remind in {n + 1}h tea")
    client.add_fault(function="chat", call="channel.send", when=when, kind="crash")
    body = {"sender_id": "ada", "reply_target": "ada", "text": "/remind in 3h cake"}
    assert client.call("POST", "/webhooks/console", body, token=None).status == 200
    client.advance("10m")

    assert client.outbox("ada")[-1]["text"].split("\n")[0].endswith(": cake")
    assert len(client.items("/tasks")) == 3


def test_a_command_repeated_after_a_crash_is_confirmed_at_the_limit(client: StackClient) -> None:
    """The task is stored and its reply is not: the message is carried out again."""
    for n in range(2):
        client.say(f"/remind in {n + 1}h tea")
    # The first write stores the task, and the invocation dies before the reply is stored.
    client.add_fault(function="chat", call="dynamodb.PutItem", when="after", kind="crash")
    body = {"sender_id": "ada", "reply_target": "ada", "text": "/remind in 3h cake"}
    assert client.call("POST", "/webhooks/console", body, token=None).status == 200
    client.create(**{"in": "9h"})  # a program fills the last place meanwhile
    client.advance("10m")

    assert client.outbox("ada")[-1]["text"].split("\n")[0].endswith(": cake")
