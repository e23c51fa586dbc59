"""Chat is kept first and worked on after: what a crash, a repeat or an outage makes of it."""

from __future__ import annotations

import pytest

from tests.stack_client import StackClient

REMIND = "/remind in 2 hours tea"


def said(client: StackClient, text: str, sender: str = "ada") -> int:
    body = {"sender_id": sender, "text": text}
    return client.call("POST", "/webhooks/console", body, token=None).status


def texts(client: StackClient, target: str = "ada") -> list[str]:
    return [sent["text"] for sent in client.sent(target)]


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
    client.fault(function="chat", call=call, when=when, kind="crash")
    assert said(client, REMIND) == 200
    assert texts(client) == []

    client.advance("10m")
    assert [text.split(":")[0].split()[0] for text in texts(client)] == ["Reminder"]
    assert len(client.items("/tasks")) == 1


def test_what_was_said_after_a_message_that_failed_waits_for_it(client: StackClient) -> None:
    client.fault(function="chat", call="channel.send", when="before", kind="crash")
    said(client, REMIND)
    said(client, "/tasks")
    said(client, "/tasks", sender="bob")
    assert (len(texts(client)), len(texts(client, "bob"))) == (0, 1)

    client.advance("10m")
    [created, listed] = texts(client)
    assert created.startswith("Reminder")
    assert created.split()[1] in listed


def test_a_chat_that_is_down_is_answered_when_it_is_back(client: StackClient) -> None:
    client.fault(
        call="channel.send", times=3, kind="error", error={"message": "chat is down", "status": 503}
    )
    said(client, REMIND)
    assert texts(client) == []

    client.advance("15m")
    assert len(texts(client)) == 1


def test_whoever_could_not_be_answered_at_all_is_told_so(client: StackClient) -> None:
    client.fault(
        call="channel.send", times=5, kind="error", error={"message": "chat is down", "status": 503}
    )
    said(client, REMIND)
    client.advance("30m")

    assert texts(client) == [
        f"I could not answer this: {REMIND}\nLook at /tasks before you say it again."
    ]
    [letter] = client.items("/dead-letters")
    assert (letter["queue"], letter["reason"]) == ("chat", "it could not be answered")
    assert client.call("POST", "/dead-letters/redrive").status == 200
    assert texts(client)[-1].startswith("Reminder")
    assert len(client.items("/tasks")) == 1


def test_without_its_queue_the_webhook_says_that_nothing_was_heard(client: StackClient) -> None:
    client.fault(function="webhook", call="sqs.SendMessage", times=10, kind="error")

    assert said(client, REMIND) >= 500  # so that the platform says it again
    client.advance("10m")
    assert texts(client) == []
