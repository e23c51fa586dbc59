"""Updates of Telegram: whose they are, what they say, and which are none of our business."""

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


def hear(body: Any, keys: dict[str, str] = KEYS) -> InboundResult:
    return TelegramInboundParser(keys).parse(
        sign_request("telegram", body, at=NOW).to_raw_request(), now=NOW
    )


def said(text: str | None, keys: dict[str, str] = KEYS, /, **fields: Any) -> Message | None:
    return hear(telegram_update(telegram_message(text, **fields)), keys).message


def test_what_somebody_writes_to_the_bot_is_heard() -> None:
    assert hear(telegram_update(telegram_message("/remind in 10 minutes tea"))) == InboundResult(
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
def test_times_count_from_when_it_was_said_where_that_can_be(ago: int, counts: bool) -> None:
    spoken = int(NOW.timestamp()) - ago
    heard = said("/remind in 10 minutes tea", date=spoken)
    assert heard is not None
    assert heard.sent_at == (NOW - timedelta(seconds=ago) if counts else NOW)


def test_a_language_that_is_none_is_not_known() -> None:
    heard = said("/tasks", **{"from": {**ADA, "language_code": "zh-hans@x"}})
    assert heard is not None
    assert heard.locale is None


def test_in_private_everything_is_for_us() -> None:
    message = said("good morning")

    assert message is not None
    assert message.text == "good morning"


def test_a_pressed_button_says_its_command_for_whoever_presses() -> None:
    bob = {"id": 333, "is_bot": False, "first_name": "Bob"}
    message = hear(telegram_press("/cancel a1b2c3d4", **{"from": bob})).message

    assert message == Message(
        channel="telegram",
        sender_id="333",
        reply_target="111",
        text="/cancel a1b2c3d4",
        dedup_key="10001",
        sent_at=NOW,
        reply_context={"callback_query_id": "4382171900"},
    )


def test_a_button_under_a_message_that_is_too_old_to_be_shown_still_works() -> None:
    message = hear(telegram_press(message={"chat": GROUP, "message_id": 1, "date": 0})).message

    assert message is not None
    assert message.reply_target == "-222"


@pytest.mark.parametrize("chat", [GROUP, FORUM])
@pytest.mark.parametrize(
    ("typed", "heard"),
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
def test_in_a_group_a_command_is_for_us(chat: Payload, typed: str, heard: str) -> None:
    message = said(typed, NAMED, chat=chat)

    assert message is not None
    assert (message.text, message.reply_target) == (heard, str(chat["id"]))


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
def test_in_a_group_other_talk_is_passed_over(chat: Payload, typed: str) -> None:
    assert said(typed, NAMED, chat=chat) is None


def test_a_bot_that_does_not_know_its_name_takes_a_command_for_any_bot_as_its_own() -> None:
    message = said("/remind@SomeBot in 1h tea", chat=GROUP)

    assert message is not None
    assert message.text == "/remind in 1h tea"
    assert said("/weather@SomeBot", chat=GROUP) is None


def test_the_answer_to_a_topic_of_a_forum_goes_to_that_topic() -> None:
    message = said("/tasks", chat=FORUM, message_thread_id=42, is_topic_message=True)

    assert message is not None
    assert message.reply_target == "-1001234567890:42"


def test_a_reply_in_a_group_without_topics_is_answered_in_the_group() -> None:
    message = said("/tasks", chat=FORUM, message_thread_id=42)

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
def test_what_nobody_says_in_their_own_name_is_passed_over(fields: Payload) -> None:
    assert said("/tasks", **fields) is None


@pytest.mark.parametrize(
    "fields",
    [{"photo": [], "caption": "/tasks"}, {"sticker": {}}, {"new_chat_members": [ADA]}, {"text": 5}],
)
def test_a_message_without_text_is_passed_over(fields: Payload) -> None:
    assert said(None, **fields) is None


@pytest.mark.parametrize(
    "kind",
    ["edited_message", "channel_post", "edited_channel_post", "my_chat_member", "poll", "unheard"],
)
def test_other_updates_are_acknowledged_and_passed_over(kind: str) -> None:
    assert hear({"update_id": 1, kind: telegram_message()}) == InboundResult()


@pytest.mark.parametrize("fields", [{"data": None}, {"message": None}])
def test_a_press_that_is_none_of_ours_is_passed_over(fields: Payload) -> None:
    assert hear(telegram_press(**fields)) == InboundResult()


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
def test_what_breaks_the_documented_form_is_refused_by_name(body: Any, field: str) -> None:
    with pytest.raises(InvalidFieldsError) as refused:
        hear(body)

    assert [error.field for error in refused.value.errors] == [field]


def test_a_long_text_is_cut_and_half_a_character_is_replaced() -> None:
    message = said("\ud800" + "x" * 9_000)

    assert message is not None
    assert message.text == "?" + "x" * 7_999
