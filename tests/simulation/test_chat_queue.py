"""Chat is kept first and worked on after: what a crash, a repeat or an outage makes of it."""

from __future__ import annotations

import threading

import pytest

from tests.support.stack_client import StackClient

PATIENCE = 20
REMIND = "/remind in 2 hours tea"


def said(client: StackClient, text: str, sender: str = "ada") -> int:
    body = {"sender_id": sender, "text": text}
    return client.call("POST", "/webhooks/console", body, token=None).status


def texts(client: StackClient, target: str = "ada") -> list[str]:
    return [sent["text"] for sent in client.outbox(target)]


def advanced(client: StackClient, by: str) -> None:
    """Fails, instead of hanging, where the clock does not arrive."""
    mover = threading.Thread(target=client.advance, args=[by], daemon=True)
    mover.start()
    mover.join(PATIENCE)
    assert not mover.is_alive(), "the clock does not arrive"


@pytest.mark.parametrize(
    ("call", "when"),
    [
        ("dynamodb.GetItem", "before"),
        ("dynamodb.PutItem", "before"),
        ("dynamodb.PutItem", "after"),
        ("channel.send", "before"),
    ],
)
def test_a_killed_chat_function_leaves_one_task_and_one_answer(
    client: StackClient, call: str, when: str
) -> None:
    client.add_fault(function="chat", call=call, when=when, kind="crash")
    assert said(client, REMIND) == 200
    assert texts(client) == []

    client.advance("10m")
    assert [text.split(":")[0].split()[0] for text in texts(client)] == ["Reminder"]
    assert len(client.items("/tasks")) == 1


def test_what_was_said_after_a_message_that_failed_waits_for_it(client: StackClient) -> None:
    client.add_fault(function="chat", call="channel.send", when="before", kind="crash")
    said(client, REMIND)
    said(client, "/tasks")
    said(client, "/tasks", sender="bob")
    assert (len(texts(client)), len(texts(client, "bob"))) == (0, 1)

    client.advance("10m")
    [created, listed] = texts(client)
    assert created.startswith("Reminder")
    assert created.split()[1] in listed


def test_a_chat_that_is_down_is_answered_when_it_is_back(client: StackClient) -> None:
    client.add_fault(
        call="channel.send", times=3, kind="error", error={"message": "chat is down", "status": 503}
    )
    said(client, REMIND)
    assert texts(client) == []

    client.advance("15m")
    assert len(texts(client)) == 1


def test_whoever_could_not_be_answered_at_all_is_told_so(client: StackClient) -> None:
    client.add_fault(
        call="channel.send", times=5, kind="error", error={"message": "chat is down", "status": 503}
    )
    said(client, REMIND)
    client.advance("30m")

    assert texts(client) == [
        f"I could not answer this: {REMIND}\nLook at /tasks before you say it again."
    ]
    [letter] = client.items("/dead-letters")
    reason = "it could not be answered: the log of the chat function says why, under its id"
    assert (letter["queue"], letter["reason"]) == ("chat", reason)
    assert client.call("POST", "/dead-letters/redrive").status == 200
    assert texts(client)[-1].startswith("Reminder")
    assert len(client.items("/tasks")) == 1


def test_an_answer_that_comes_late_says_so(client: StackClient) -> None:
    client.add_fault(function="chat", call="channel.send", times=5, kind="error")
    said(client, REMIND)
    client.advance("3h")
    client.call("POST", "/dead-letters/redrive")

    [first_line, last_line] = texts(client)[-1].splitlines()
    assert first_line.endswith("set for Tuesday 17 Feb 2026, 14:00 (UTC): tea")
    assert last_line == "This answer comes late: you asked on Tuesday 17 Feb 2026, 12:00 (UTC)."


@pytest.mark.parametrize("kind", ["error", "crash"])
def test_what_waited_for_a_message_that_died_has_tries_of_its_own(
    client: StackClient, kind: str
) -> None:
    client.add_fault(function="chat", call="channel.send", when="before", times=6, kind=kind)
    said(client, REMIND)
    said(client, "/tasks")
    advanced(client, "30m")

    [given_up, listed] = texts(client)
    assert given_up.startswith("I could not answer this: /remind")
    assert "tea" in listed


@pytest.mark.parametrize("call", ["dynamodb.GetItem", "dynamodb.PutItem"])
def test_messages_of_several_survive_a_table_that_kills_their_function(
    client: StackClient, call: str
) -> None:
    client.add_fault(function="chat", call=call, when="after", times=4, kind="crash")
    for sender in ("ada", "bob"):
        said(client, REMIND, sender)
        said(client, "/tasks", sender)
    advanced(client, "30m")

    for sender in ("ada", "bob"):
        [created, listed] = texts(client, sender)
        assert created.startswith("Reminder")
        assert created.split()[1] in listed


def test_without_its_queue_the_webhook_says_that_nothing_was_heard(client: StackClient) -> None:
    client.add_fault(function="webhook", call="sqs.SendMessage", times=10, kind="error")

    assert said(client, REMIND) >= 500  # so that the platform says it again
    client.advance("10m")
    assert texts(client) == []
