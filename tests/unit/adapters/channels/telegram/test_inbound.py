"""Parsing Telegram updates: sender, text, and which updates are ignored."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from duecourse.adapters.channels.inbound import InboundResult
from duecourse.adapters.channels.telegram.inbound import TelegramInboundParser
from duecourse.domain.chat.message import Message
from duecourse.domain.errors import InvalidFieldsError

from tests.support.builders.moments import NOW
from tests.support.platforms import (
    ADA,
    FORUM,
    GROUP,
    KEYS,
    Payload,
    sign_request,
    telegram_message,
    telegram_press,
    telegram_update,
)

NAMED = {**KEYS, "telegram_bot_name": "@DuecourseBot"}


def parse_update(body: Any, keys: dict[str, str] = KEYS) -> InboundResult:
    return TelegramInboundParser(keys).parse(
        sign_request("telegram", body, at=NOW).to_raw_request(), now=NOW
    )


def parse_message(
    text: str | None, keys: dict[str, str] = KEYS, /, **fields: Any
) -> Message | None:
    return parse_update(telegram_update(telegram_message(text, **fields)), keys).message


def test_a_message_to_the_bot_is_parsed() -> None:
    assert parse_update(
        telegram_update(telegram_message("/remind in 10 minutes tea"))
    ) == InboundResult(
        Message(
            channel="telegram",
            sender_id="111",
            reply_target="111",
            text="/remind in 10 minutes tea",
            dedup_key="10000",
            sent_at=NOW,
            locale="en",
        )
    )


@pytest.mark.parametrize(
    ("ago", "counts"),
    [
        (0, True),
        (7_200, True),  # Telegram could not reach us for two hours
        (86_400, True),
        (86_401, False),
        (-60, False),
    ],
)
def test_the_message_time_is_when_it_was_sent_if_valid(ago: int, counts: bool) -> None:
    spoken = int(NOW.timestamp()) - ago
    parsed = parse_message("/remind in 10 minutes tea", date=spoken)
    assert parsed is not None
    assert parsed.sent_at == (NOW - timedelta(seconds=ago) if counts else NOW)


def test_an_invalid_language_is_ignored() -> None:
    parsed = parse_message("/tasks", **{"from": {**ADA, "language_code": "zh-hans@x"}})
    assert parsed is not None
    assert parsed.locale is None


def test_every_private_message_is_parsed() -> None:
    message = parse_message("good morning")

    assert message is not None
    assert message.text == "good morning"


def test_a_button_press_sends_its_command_for_the_user_who_pressed() -> None:
    bob = {"id": 333, "is_bot": False, "first_name": "Bob"}
    message = parse_update(telegram_press("/cancel a1b2c3d4", **{"from": bob})).message

    assert message == Message(
        channel="telegram",
        sender_id="333",
        reply_target="111",
        text="/cancel a1b2c3d4",
        dedup_key="10001",
        sent_at=NOW,
        private_target="333",
        reply_context={"callback_query_id": "4382171900"},
    )


def test_a_button_of_an_inaccessible_message_works() -> None:
    message = parse_update(
        telegram_press(message={"chat": GROUP, "message_id": 1, "date": 0})
    ).message

    assert message is not None
    assert message.reply_target == "-222"


@pytest.mark.parametrize("chat", [GROUP, FORUM])
@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("/remind in 1h tea", "/remind in 1h tea"),
        ("/remind@DuecourseBot in 1h tea", "/remind in 1h tea"),
        ("/REMIND@duecoursebot\nin 1h tea", "/REMIND\nin 1h tea"),
        ("/tasks", "/tasks"),
        ("/unheard_of@DuecourseBot", "/unheard_of"),
        ("Remind me in 1h of tea", "Remind me in 1h of tea"),
        ("remind  me in 1h of tea", "remind  me in 1h of tea"),
    ],
)
def test_a_command_in_a_group_is_parsed(chat: Payload, typed: str, expected: str) -> None:
    message = parse_message(typed, NAMED, chat=chat)

    assert message is not None
    assert (message.text, message.reply_target) == (expected, str(chat["id"]))


@pytest.mark.parametrize("chat", [GROUP, FORUM])
@pytest.mark.parametrize(
    "typed",
    [
        "good morning",
        "tea? /remind in 1h tea",
        "reminders are great",
        "/remind@OtherBot in 1h tea",
        "/weather",
        "/etc/passwd",
        "/",
        "",
    ],
)
def test_other_messages_in_a_group_are_ignored(chat: Payload, typed: str) -> None:
    assert parse_message(typed, NAMED, chat=chat) is None


def test_without_a_bot_name_commands_to_any_bot_are_accepted() -> None:
    message = parse_message("/remind@SomeBot in 1h tea", chat=GROUP)

    assert message is not None
    assert message.text == "/remind in 1h tea"
    assert parse_message("/weather@SomeBot", chat=GROUP) is None


def test_a_message_in_a_forum_topic_is_answered_in_the_topic() -> None:
    message = parse_message("/tasks", chat=FORUM, message_thread_id=42, is_topic_message=True)

    assert message is not None
    assert message.reply_target == "-1001234567890:42"


def test_a_reply_in_a_group_without_topics_is_answered_in_the_group() -> None:
    message = parse_message("/tasks", chat=FORUM, message_thread_id=42)

    assert message is not None
    assert message.reply_target == "-1001234567890"


@pytest.mark.parametrize(
    "fields",
    [
        {"from": {**ADA, "is_bot": True}},
        {"from": None},
        {"via_bot": {"id": 5, "is_bot": True, "first_name": "Gif"}},
        {"sender_chat": {"id": -5, "type": "channel", "title": "News"}},
        {"forward_origin": {"type": "user", "date": 1, "sender_user": ADA}},
        {"forward_date": 1},
    ],
)
def test_anonymous_bot_and_forwarded_messages_are_ignored(fields: Payload) -> None:
    assert parse_message("/tasks", **fields) is None


@pytest.mark.parametrize(
    "fields",
    [{"photo": [], "caption": "/tasks"}, {"sticker": {}}, {"new_chat_members": [ADA]}, {"text": 5}],
)
def test_a_message_without_text_is_ignored(fields: Payload) -> None:
    assert parse_message(None, **fields) is None


@pytest.mark.parametrize(
    "kind",
    ["edited_message", "channel_post", "edited_channel_post", "my_chat_member", "poll", "unheard"],
)
def test_other_updates_are_acknowledged_and_ignored(kind: str) -> None:
    assert parse_update({"update_id": 1, kind: telegram_message()}) == InboundResult()


@pytest.mark.parametrize("fields", [{"data": None}, {"message": None}])
def test_a_press_of_a_foreign_button_is_ignored(fields: Payload) -> None:
    assert parse_update(telegram_press(**fields)) == InboundResult()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b"", "body"),
        (b"[]", "body"),
        (b"\xff", "body"),
        (b'{"update_id": 1, "update_id": 2}', "body"),
        (b'{"update_id": NaN}', "body"),
        ({"message": telegram_message()}, "update_id"),
        ({"update_id": "1"}, "update_id"),
        ({"update_id": True}, "update_id"),
        ({"update_id": 1.0}, "update_id"),
        ({"update_id": 10**30}, "update_id"),
        (telegram_update(telegram_message(chat={"id": "x", "type": "private"})), "message.chat.id"),
        (telegram_update(telegram_message(**{"from": {"id": None}})), "message.from.id"),
        (
            telegram_update(telegram_message(is_topic_message=True, message_thread_id=None)),
            "message.message_thread_id",
        ),
        (telegram_press(id="a b"), "callback_query.id"),
    ],
)
def test_an_invalid_update_is_rejected_with_its_field(body: Any, field: str) -> None:
    with pytest.raises(InvalidFieldsError) as refused:
        parse_update(body)

    assert [error.field for error in refused.value.errors] == [field]


def test_a_long_text_is_truncated_and_a_lone_surrogate_replaced() -> None:
    message = parse_message("\ud800" + "x" * 9_000)

    assert message is not None
    assert message.text == "?" + "x" * 7_999
