"""A recipient blocked the bot: reminders fail, notifications and replies are dropped."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from duecourse.adapters.channels.telegram.outbound import TelegramChannel
from duecourse.app import registry, stores

from tests.support.chat_cases import HTTP_CLIENT, TOKENS
from tests.support.receiver import Receiver
from tests.support.stack_client import StackClient, running_stack

BLOCKED = {"ok": False, "description": "Forbidden: bot was blocked by the user"}


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[StackClient]:
    monkeypatch.setenv("CHAT_ACCESS", "telegram:42")
    with running_stack() as running:
        yield running


@pytest.fixture
def receiver(client: StackClient) -> Iterator[Receiver]:
    """Stand in for Telegram, where every recipient has blocked the bot."""
    del client
    with Receiver() as receiver:
        receiver.answer(403, json.dumps(BLOCKED).encode())
        endpoint = receiver.url("").removesuffix("/")
        telegram = TelegramChannel(HTTP_CLIENT, TOKENS, stores.clock(), endpoint=endpoint)
        registry.register_channel("telegram", telegram)
        yield receiver


def create_reminder(client: StackClient, **fields: str) -> str:
    recipient = {"channel": "telegram", "reply_target": "42", "sender_id": "42"}
    return str(client.create(description="tea", **{"in": "10s", **recipient, **fields})["id"])


def test_a_reminder_fails_without_retries(client: StackClient, receiver: Receiver) -> None:
    task = create_reminder(client)
    client.advance("2h")
    after = client.task(task)
    assert (after["status"], after["retry_count"]) == ("failed", 1)
    assert after["last_error_category"] == "recipient_gone"
    assert "bot was blocked by the user" in after["last_error"]
    reminder, notification = receiver.requests
    assert reminder.json["text"].startswith("Reminder: tea")
    assert notification.json["text"].startswith(f"Gave up on task {after['short_id']} (tea)")
    assert client.items("/dead-letters") == []


def test_a_series_is_paused_after_three_failed_occurrences(
    client: StackClient, receiver: Receiver
) -> None:
    task = create_reminder(client, repeat="daily")
    client.advance("5d")
    after = client.task(task)
    assert (after["status"], after["paused"]) == ("pending", True)
    assert len(receiver.requests) == 2 * 3
    assert client.items("/dead-letters") == []


def test_a_command_is_carried_out_and_its_reply_dropped(
    client: StackClient, receiver: Receiver
) -> None:
    update = {
        "update_id": 1,
        "message": {
            "message_id": 1,
            "date": 1771329600,
            "from": {"id": 42, "is_bot": False, "first_name": "Ada"},
            "chat": {"id": 42, "type": "private"},
            "text": "/remind in 2 days tea",
        },
    }
    headers = {"X-Telegram-Bot-Api-Secret-Token": "local"}
    answer = client.call("POST", "/webhooks/telegram", update, token=None, headers=headers)
    assert answer.status == 200
    client.advance("1h")
    assert len(receiver.requests) == 1
    assert [task["description"] for task in client.items("/tasks")] == ["tea"]
    assert client.items("/dead-letters") == []
