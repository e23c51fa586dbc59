"""The chat queue: messages survive crashes, duplicates and outages."""

from __future__ import annotations

import threading

import pytest

from tests.support.stack_client import StackClient

TIMEOUT_SECONDS = 20
REMIND = "/remind in 2 hours tea"


def post_message(client: StackClient, text: str, sender: str = "ada") -> int:
    body = {"sender_id": sender, "text": text}
    return client.call("POST", "/webhooks/console", body, token=None).status


def sent_texts(client: StackClient, target: str = "ada") -> list[str]:
    return [sent["text"] for sent in client.outbox(target)]


def advance_or_fail(client: StackClient, by: str) -> None:
    """Advance the clock; fail instead of hanging if it never gets there."""
    mover = threading.Thread(target=client.advance, args=[by], daemon=True)
    mover.start()
    mover.join(TIMEOUT_SECONDS)
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
def test_a_crashed_chat_function_leaves_one_task_and_one_reply(
    client: StackClient, call: str, when: str
) -> None:
    client.add_fault(function="chat", call=call, when=when, kind="crash")
    assert post_message(client, REMIND) == 200
    assert sent_texts(client) == []

    client.advance("10m")
    assert [text.split(":")[0].split()[0] for text in sent_texts(client)] == ["Reminder"]
    assert len(client.items("/tasks")) == 1


def test_later_messages_of_a_sender_wait_for_a_failed_one(client: StackClient) -> None:
    client.add_fault(function="chat", call="channel.send", when="before", kind="crash")
    post_message(client, REMIND)
    post_message(client, "/tasks")
    post_message(client, "/tasks", sender="bob")
    assert (len(sent_texts(client)), len(sent_texts(client, "bob"))) == (0, 1)

    client.advance("10m")
    [created, listed] = sent_texts(client)
    assert created.startswith("Reminder")
    assert created.split()[1] in listed


def test_a_reply_is_sent_once_the_channel_is_available_again(client: StackClient) -> None:
    client.add_fault(
        call="channel.send", times=3, kind="error", error={"message": "chat is down", "status": 503}
    )
    post_message(client, REMIND)
    assert sent_texts(client) == []

    client.advance("15m")
    assert len(sent_texts(client)) == 1


def test_a_sender_is_notified_of_an_undeliverable_reply(client: StackClient) -> None:
    client.add_fault(
        call="channel.send", times=5, kind="error", error={"message": "chat is down", "status": 503}
    )
    post_message(client, REMIND)
    client.advance("30m")

    assert sent_texts(client) == [
        f"I could not answer this message: {REMIND}\n"
        "It may have been carried out. Check /tasks before you send it again."
    ]
    [letter] = client.items("/dead-letters")
    reason = "the chat function failed on every delivery: search its log for this id"
    assert (letter["queue"], letter["reason"]) == ("chat", reason)
    assert client.call("POST", "/dead-letters/redrive").status == 200
    assert sent_texts(client)[-1].startswith("Reminder")
    assert len(client.items("/tasks")) == 1


def test_a_late_reply_states_when_the_message_was_sent(client: StackClient) -> None:
    client.add_fault(function="chat", call="channel.send", times=5, kind="error")
    post_message(client, REMIND)
    client.advance("3h")
    client.call("POST", "/dead-letters/redrive")

    [first_line, last_line] = sent_texts(client)[-1].splitlines()
    assert first_line.endswith("set for Tuesday 17 Feb 2026, 14:00 (UTC): tea")
    assert last_line == "This reply is late. You wrote on Tuesday 17 Feb 2026, 12:00 (UTC)."


@pytest.mark.parametrize("kind", ["error", "crash"])
def test_a_message_behind_a_dead_one_has_its_own_attempts(client: StackClient, kind: str) -> None:
    client.add_fault(function="chat", call="channel.send", when="before", times=6, kind=kind)
    post_message(client, REMIND)
    post_message(client, "/tasks")
    advance_or_fail(client, "30m")

    [undeliverable, listed] = sent_texts(client)
    assert undeliverable.startswith("I could not answer this message: /remind")
    assert "tea" in listed


@pytest.mark.parametrize("call", ["dynamodb.GetItem", "dynamodb.PutItem"])
def test_messages_of_several_senders_survive_repeated_crashes(
    client: StackClient, call: str
) -> None:
    client.add_fault(function="chat", call=call, when="after", times=4, kind="crash")
    for sender in ("ada", "bob"):
        post_message(client, REMIND, sender)
        post_message(client, "/tasks", sender)
    advance_or_fail(client, "30m")

    for sender in ("ada", "bob"):
        [created, listed] = sent_texts(client, sender)
        assert created.startswith("Reminder")
        assert created.split()[1] in listed


def test_the_webhook_fails_when_its_queue_is_unavailable(client: StackClient) -> None:
    client.add_fault(function="webhook", call="sqs.SendMessage", times=10, kind="error")

    assert post_message(client, REMIND) >= 500  # so that the platform sends it again
    client.advance("10m")
    assert sent_texts(client) == []
