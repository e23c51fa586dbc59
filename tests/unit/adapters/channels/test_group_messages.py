"""Replies in group chats do not reveal tasks of other chats."""

from __future__ import annotations

from typing import Any

import pytest
from duecourse.adapters.channels.slack.inbound import SlackInboundParser
from duecourse.adapters.channels.telegram.inbound import TelegramInboundParser
from duecourse.domain.tasks.status import Status

from tests.support.builders.moments import DAY, HOUR, NOW
from tests.support.builders.tasks import ID, a_task
from tests.support.chat_harness import ChatHarness
from tests.support.platforms import (
    FORUM,
    GROUP,
    KEYS,
    Payload,
    sign_form,
    sign_request,
    slack_command,
    slack_event,
    slack_mention,
    slack_message,
    telegram_message,
    telegram_press,
    telegram_update,
)

SHORT = ID[:8]
ROOM: dict[str, Any] = {"reply_target": "room", "is_private": False}
SHARED = a_task(
    id="11111111-0000-4000-8000-000000000000",
    reply_target="room",
    description="water the plants",
    due_at=NOW + DAY,
)
SECRET = a_task(description="see the doctor", due_at=NOW + HOUR)


def test_a_list_shows_tasks_of_this_chat_and_counts_the_others() -> None:
    harness = ChatHarness(SHARED, SECRET)
    assert harness.say("/tasks", **ROOM).splitlines() == [
        "11111111  Wednesday 18 Feb 2026, 12:00 (UTC): water the plants",
        "1 more task is in another chat. Ask me in private.",
    ]
    assert "see the doctor" in harness.say("/tasks", reply_target="room")


def test_an_empty_list_for_this_chat_says_so() -> None:
    other = a_task(id="22222222-0000-4000-8000-000000000000", reply_target="another room")
    assert ChatHarness(SECRET, other).say("/tasks", **ROOM) == (
        "You have no open tasks here.\n2 more tasks are in other chats. Ask me in private."
    )


def test_a_list_without_tasks_elsewhere_does_not_mention_them() -> None:
    assert len(ChatHarness(SHARED).say("/tasks", **ROOM).splitlines()) == 1
    assert (
        ChatHarness().say("/tasks", **ROOM).startswith("You have no open tasks. Example: /remind")
    )


def test_a_task_of_this_chat_is_shown_in_full() -> None:
    harness = ChatHarness(SHARED, SECRET)
    assert "water the plants" in harness.say("/task 11111111", **ROOM)
    reply = harness.dispatch(f"/task {SHORT}", **ROOM)
    assert reply.text == f"Task {SHORT}: from another chat, ask me in private."
    assert reply.buttons == ()


@pytest.mark.parametrize("command", ["cancel {}", "done {}", "pause {}", "snooze {} 20m"])
def test_a_command_on_a_task_of_another_chat_hides_its_description(command: str) -> None:
    harness = ChatHarness(SECRET)
    reply = harness.say("/" + command.format(SHORT), **ROOM)
    assert harness.task != SECRET
    assert "doctor" not in reply
    assert "ask me in private" in reply


def test_a_similar_task_of_another_chat_is_not_mentioned() -> None:
    harness = ChatHarness(SECRET)
    assert "Similar task" not in harness.say("/remind in 1 hour see the doctor", **ROOM)
    assert "Similar task" in harness.say("/remind in 1 hour see the doctor")
    assert all(task.status is Status.PENDING for task in harness.tasks)


# How it is known


@pytest.mark.parametrize(
    ("update", "is_private"),
    [
        (telegram_update(telegram_message("/tasks")), True),
        (telegram_update(telegram_message("/tasks", chat=GROUP)), False),
        (telegram_update(telegram_message("/tasks", chat=FORUM)), False),
        (telegram_press("/done 1"), True),
        (telegram_press("/done 1", message={"chat": GROUP, "message_id": 1, "date": 0}), False),
    ],
)
def test_telegram_groups_are_not_private(update: Payload, is_private: bool) -> None:
    parsed = TelegramInboundParser(KEYS).parse(
        sign_request("telegram", update, at=NOW).to_raw_request(), now=NOW
    )
    assert parsed.message is not None
    assert parsed.message.is_private is is_private


@pytest.mark.parametrize(
    ("event", "is_private"), [(slack_message("tasks"), True), (slack_mention("tasks"), False)]
)
def test_slack_channels_are_not_private(event: Payload, is_private: bool) -> None:
    parsed = SlackInboundParser(KEYS).parse(
        sign_request("slack", slack_event(event), at=NOW).to_raw_request(), now=NOW
    )
    assert parsed.message is not None
    assert parsed.message.is_private is is_private


def test_a_slack_slash_command_is_private() -> None:
    sent = sign_form(slack_command("", command="/tasks"), at=NOW)
    parsed = SlackInboundParser(KEYS).parse(sent.to_raw_request(), now=NOW)
    assert parsed.message is not None
    assert parsed.message.is_private
