"""Parsing Discord interactions: sender, text and acknowledgement."""

from __future__ import annotations

from typing import Any

import pytest
from duecourse.adapters.channels.discord.inbound import DiscordInboundParser
from duecourse.adapters.channels.inbound import InboundResult
from duecourse.domain.chat.chat_address import ChatAddress
from duecourse.domain.chat.message import Message
from duecourse.domain.errors import InvalidFieldsError

from tests.support.builders.moments import NOW
from tests.support.platforms import (
    KEYS,
    PING,
    WHAT,
    WHEN,
    Payload,
    as_direct_message,
    discord_command,
    discord_interaction,
    discord_press,
    sign_request,
)

TOKENS = {
    "application_id": "1200000000000000002",
    "interaction_token": "b3BlbnMgYSBkb29y",
}


def parse_body(body: Any) -> InboundResult:
    return DiscordInboundParser(KEYS).parse(
        sign_request("discord", body, at=NOW).to_raw_request(), now=NOW
    )


def text_of(interaction: Payload) -> str:
    message = parse_body(interaction).message
    assert message is not None
    return message.text


def test_a_ping_is_answered() -> None:
    assert parse_body(PING) == InboundResult(reply={"type": 1})


def test_a_command_is_parsed_and_its_reply_is_ephemeral() -> None:
    assert parse_body(discord_command("remind", WHEN, WHAT)) == InboundResult(
        Message(
            channel="discord",
            sender_id="1200000000000000005",
            reply_target="1200000000000000004",
            text="/remind in 10 minutes tea",
            dedup_key="1200000000000000001",
            sent_at=NOW,
            locale="en-GB",
            team="1200000000000000003",
            private_target="user:1200000000000000005",
            reply_context=TOKENS,
        ),
        {"type": 5, "data": {"flags": 64}},
    )


def test_a_direct_message_has_no_team() -> None:
    message = parse_body(as_direct_message(discord_command("tasks"))).message

    assert message is not None
    assert message.team is None


@pytest.mark.parametrize(
    ("kind", "chat_id"),
    [
        (11, "1200000000000000009:1200000000000000004"),
        (12, "1200000000000000009:1200000000000000004"),
        (0, None),
    ],
)
def test_a_message_in_a_thread_belongs_to_its_channel(kind: int, chat_id: str | None) -> None:
    """A channel has a parent as well: its category."""
    channel = {"id": "1200000000000000004", "type": kind, "parent_id": "1200000000000000009"}
    message = parse_body(discord_command("tasks", channel=channel)).message
    assert message is not None
    assert (message.reply_target, message.source_chat) == ("1200000000000000004", chat_id)
    assert ChatAddress("discord", "1200000000000000009").contains(message) is bool(chat_id)


def test_a_direct_message_has_a_user_and_a_visible_reply() -> None:
    parsed = parse_body(as_direct_message(discord_command("tasks")))

    assert parsed.message is not None
    assert parsed.message.sender_id == "1200000000000000005"
    assert parsed.reply == {"type": 5}


def test_a_button_press_sends_its_command_without_a_loading_state() -> None:
    parsed = parse_body(discord_press("/cancel a1b2c3d4"))

    assert parsed.message is not None
    assert (parsed.message.text, parsed.message.dedup_key) == (
        "/cancel a1b2c3d4",
        "1200000000000000007",
    )
    assert parsed.message.reply_context == {**TOKENS, "is_press": "1"}
    assert parsed.reply == {"type": 6}


@pytest.mark.parametrize(
    ("interaction", "text"),
    [
        (discord_command("tasks"), "/tasks"),
        (discord_command("remind", WHAT, WHEN), "/remind in 10 minutes tea"),
        (discord_command("task", {"type": 3, "name": "id", "value": "a1b2c3d4"}), "/task a1b2c3d4"),
        (discord_command("task", {"type": 4, "name": "id", "value": 12345678}), "/task 12345678"),
        (discord_command("duecourse"), "/help"),
        (
            discord_command("duecourse", {"type": 3, "name": "text", "value": "remind in 1h tea"}),
            "/remind in 1h tea",
        ),
        (
            discord_command("duecourse", {"type": 1, "name": "remind", "options": [WHAT, WHEN]}),
            "/remind in 10 minutes tea",
        ),
        (
            discord_command(
                "duecourse",
                {"type": 2, "name": "my", "options": [{"type": 1, "name": "tasks"}]},
            ),
            "/tasks",
        ),
    ],
)
def test_a_slash_command_is_converted_to_command_text(interaction: Payload, text: str) -> None:
    assert text_of(interaction) == text


def test_a_long_option_value_is_truncated() -> None:
    long = {**WHAT, "value": "x" * 6_000}

    assert len(text_of(discord_command("remind", long, long))) == 8_000


@pytest.mark.parametrize(("kind", "reply"), [(4, 8), (5, 4)])
def test_other_interactions_are_acknowledged_and_ignored(kind: int, reply: int) -> None:
    parsed = parse_body(discord_interaction(kind, {"name": "remind", "custom_id": "form"}))

    assert parsed.message is None
    assert parsed.reply is not None
    assert parsed.reply["type"] == reply


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b"{", "body"),
        (b"null", "body"),
        ({}, "type"),
        ({**PING, "type": True}, "type"),
        ({**PING, "type": 99}, "type"),
        (discord_command("remind", WHEN, id=7), "id"),
        (discord_command("remind", WHEN, id="x" * 101), "id"),
        (discord_command("remind", WHEN, channel_id=None), "channel_id"),
        (discord_command("remind", WHEN, member={}), "member.user.id"),
        (discord_command("remind", WHEN, token="a/../b"), "token"),
        (discord_command("remind", WHEN, application_id="a/b"), "application_id"),
        (discord_command("remind", {"name": "when", "value": True}), "data.options.0.value"),
        (discord_command(""), "data.name"),
        (discord_interaction(2, {}), "data.name"),
        (discord_press(""), "data.custom_id"),
    ],
)
def test_an_invalid_interaction_is_rejected_with_its_field(body: Any, field: str) -> None:
    with pytest.raises(InvalidFieldsError) as refused:
        parse_body(body)

    assert [error.field for error in refused.value.errors] == [field]
