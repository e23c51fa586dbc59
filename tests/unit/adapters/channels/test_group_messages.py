"""What is said where others read along: nothing of what is told elsewhere."""

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


def test_a_listing_is_of_this_place_and_counts_the_others() -> None:
    harness = ChatHarness(SHARED, SECRET)
    assert harness.say("/tasks", **ROOM).splitlines() == [
        "11111111  Wednesday 18 Feb 2026, 12:00 (UTC): water the plants",
        "1 more task is in another chat. Ask me in private.",
    ]
    assert "see the doctor" in harness.say("/tasks", reply_target="room")


def test_a_listing_of_nothing_here_says_so() -> None:
    other = a_task(id="22222222-0000-4000-8000-000000000000", reply_target="another room")
    assert ChatHarness(SECRET, other).say("/tasks", **ROOM) == (
        "You have no open tasks here.\n2 more tasks are in other chats. Ask me in private."
    )


def test_where_nothing_is_elsewhere_nothing_is_said_of_it() -> None:
    assert len(ChatHarness(SHARED).say("/tasks", **ROOM).splitlines()) == 1
    assert (
        ChatHarness().say("/tasks", **ROOM).startswith("You have no open tasks. Example: /remind")
    )


def test_all_about_one_is_told_where_it_is_told_anyway() -> None:
    harness = ChatHarness(SHARED, SECRET)
    assert "water the plants" in harness.say("/task 11111111", **ROOM)
    said = harness.dispatch(f"/task {SHORT}", **ROOM)
    assert said.text == f"Task {SHORT}: from another chat, ask me in private."
    assert said.buttons == ()


@pytest.mark.parametrize("command", ["cancel {}", "done {}", "pause {}", "snooze {} 20m"])
def test_what_is_wanted_is_done_without_a_word_of_what_it_is_about(command: str) -> None:
    harness = ChatHarness(SECRET)
    reply = harness.say("/" + command.format(SHORT), **ROOM)
    assert harness.task != SECRET
    assert "doctor" not in reply
    assert "ask me in private" in reply


def test_one_like_it_elsewhere_is_not_pointed_out() -> None:
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
def test_others_read_along_in_a_group_of_telegram(update: Payload, is_private: bool) -> None:
    heard = TelegramInboundParser(KEYS).parse(
        sign_request("telegram", update, at=NOW).to_raw_request(), now=NOW
    )
    assert heard.message is not None
    assert heard.message.is_private is is_private


@pytest.mark.parametrize(
    ("event", "is_private"), [(slack_message("tasks"), True), (slack_mention("tasks"), False)]
)
def test_others_read_along_in_a_channel_of_slack(event: Payload, is_private: bool) -> None:
    heard = SlackInboundParser(KEYS).parse(
        sign_request("slack", slack_event(event), at=NOW).to_raw_request(), now=NOW
    )
    assert heard.message is not None
    assert heard.message.is_private is is_private


def test_a_slash_command_of_slack_is_answered_to_the_sender_alone() -> None:
    sent = sign_form(slack_command("", command="/tasks"), at=NOW)
    heard = SlackInboundParser(KEYS).parse(sent.to_raw_request(), now=NOW)
    assert heard.message is not None
    assert heard.message.is_private
