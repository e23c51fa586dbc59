"""Telegram, from its update to our reply."""

from __future__ import annotations

import pytest

from tests.support.api_response import ApiResponse
from tests.support.platforms import (
    FORUM,
    GROUP,
    Payload,
    post,
    sent_texts,
    sign_request,
    telegram_message,
    telegram_press,
    telegram_update,
)
from tests.support.stack_client import StackClient

BOB = {"id": 333, "is_bot": False, "first_name": "Bob"}


def deliver(client: StackClient, update: Payload) -> ApiResponse:
    return post(client, sign_request("telegram", update, at=client.stack.clock.now()))


def test_a_reminder_created_in_a_private_chat_is_sent_there(client: StackClient) -> None:
    response = deliver(client, telegram_update(telegram_message("/remind in 10 minutes tea")))
    client.advance("11m")

    assert (response.status, response.body) == (200, None)
    reply, reminder = client.items("/_local/outbox?channel=telegram&target=111")
    assert reply["text"].endswith(": tea")
    assert reminder["text"] == "Reminder: tea"


def test_a_reminder_created_in_a_topic_is_sent_to_that_topic(client: StackClient) -> None:
    message = telegram_message(
        "/remind in 1m tea", chat=FORUM, message_thread_id=42, is_topic_message=True
    )
    deliver(client, telegram_update(message))
    client.advance("2m")

    targets = [messages["target"] for messages in client.items("/_local/outbox?channel=telegram")]
    assert targets == ["-1001234567890:42"] * 2


def test_a_redelivered_update_creates_one_task(client: StackClient) -> None:
    update = telegram_update(telegram_message("/remind in 2h tea"))
    for _ in range(4):
        assert deliver(client, update).status == 200
        client.advance("400s")

    assert len(client.items("/tasks")) == 1
    assert len(sent_texts(client, "telegram")) == 1


def test_two_updates_with_the_same_text_create_two_tasks(client: StackClient) -> None:
    for update_id in (1, 2):
        deliver(client, telegram_update(update_id=update_id))

    assert len(sent_texts(client, "telegram")) == 2


def test_a_button_in_a_group_works_only_for_the_owner_of_the_task(
    client: StackClient,
) -> None:
    deliver(client, telegram_update(telegram_message("/remind in 1h tea", chat=GROUP)))
    [task] = client.items("/tasks")
    cancel = telegram_press(f"/cancel {task['id'][:8]}", message=telegram_message(chat=GROUP))

    deliver(client, {**cancel, "callback_query": {**cancel["callback_query"], "from": BOB}})
    assert client.task(task["id"])["status"] == "pending"

    deliver(client, {**cancel, "update_id": 10_002})
    assert client.task(task["id"])["status"] == "cancelled"


@pytest.mark.parametrize(
    "update",
    [
        {"update_id": 1, "edited_message": telegram_message()},
        {"update_id": 2, "my_chat_member": {"chat": GROUP}},
        telegram_update(telegram_message("good morning", chat=GROUP)),
        telegram_update(telegram_message(None, sticker={"emoji": "x"})),
    ],
)
def test_an_ignored_update_is_acknowledged(client: StackClient, update: Payload) -> None:
    response = deliver(client, update)

    assert (response.status, response.body) == (200, None)
    assert client.outbox() == []
