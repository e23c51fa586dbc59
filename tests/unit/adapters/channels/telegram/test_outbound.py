"""Sending to Telegram: request format, button presses, migrated chats and rate limits."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from duecourse.adapters.channels.errors import (
    ChatError,
    LocalRateLimitError,
    RateLimitedError,
    UnreadableResponseError,
)
from duecourse.adapters.channels.private_reply import NO_PRIVATE_CHAT
from duecourse.adapters.channels.telegram.outbound import TelegramChannel
from duecourse.domain.chat.chat_message import Button, ChatMessage

from tests.support.builders.moments import NOW
from tests.support.chat_cases import (
    HELLO,
    HTTP_CLIENT,
    MESSAGE_WITH_BUTTONS,
    SECOND,
    TOKEN,
    TOKENS,
    ListHttpClient,
    a_platform_message,
    answer_json,
    decision_after,
    error_of,
    send_error,
)
from tests.support.fakes.clock import ManualClock
from tests.support.receiver import Receiver
from tests.unit.adapters.channels.all_platforms.platforms import TELEGRAM, telegram_error

YES = TELEGRAM.success_body
PRESS = {"callback_query_id": "q-9", "is_press": "1"}


@pytest.fixture
def telegram(receiver: Receiver, clock: ManualClock) -> TelegramChannel:
    return TelegramChannel(HTTP_CLIENT, TOKENS, clock, endpoint=receiver.url("").removesuffix("/"))


def queue_error(receiver: Receiver, status: int, description: str, **parameters: Any) -> None:
    answer_json(receiver, status, telegram_error(status, description, **parameters).body)


def text_sent(telegram: TelegramChannel, receiver: Receiver, text: str) -> str:
    answer_json(receiver, 200, YES)
    telegram.send("42", ChatMessage(text), idempotency_key="k")
    return str(receiver.requests[-1].json["text"])


# What goes out.


def test_a_text_is_sent_plain_and_without_a_preview(
    telegram: TelegramChannel, receiver: Receiver
) -> None:
    answer_json(receiver, 200, YES)
    telegram.send(
        "-1001:77", ChatMessage("*no* <b>markup</b> https://example.org"), idempotency_key="k"
    )
    (request,) = receiver.requests
    assert (request.method, request.path) == ("POST", f"/bot{TOKEN}/sendMessage")
    assert request.json == {
        "chat_id": "-1001",
        "message_thread_id": 77,
        "text": "*no* <b>markup</b> https://example.org",
        "link_preview_options": {"is_disabled": True},
    }


def test_buttons_are_sent_in_rows_of_two(telegram: TelegramChannel, receiver: Receiver) -> None:
    answer_json(receiver, 200, YES)
    three = (*MESSAGE_WITH_BUTTONS.buttons, Button("Tomorrow", "/snooze a1b2c3d4 1d"))
    telegram.send("42", ChatMessage("Done?", three), idempotency_key="k")
    assert receiver.requests[0].json["reply_markup"]["inline_keyboard"] == [
        [
            {"text": "Done", "callback_data": "/done a1b2c3d4"},
            {"text": "1 h", "callback_data": "/snooze a1b2c3d4 1h"},
        ],
        [{"text": "Tomorrow", "callback_data": "/snooze a1b2c3d4 1d"}],
    ]


@pytest.mark.parametrize(("says", "is_kept"), [("ü" * 32, True), ("ü" * 32 + "x", False)])
def test_a_button_with_a_command_over_64_bytes_is_omitted(
    telegram: TelegramChannel, receiver: Receiver, says: str, is_kept: bool
) -> None:
    answer_json(receiver, 200, YES)
    telegram.send("42", ChatMessage("Done?", (Button("Do", says),)), idempotency_key="k")
    assert ("reply_markup" in receiver.requests[0].json) == is_kept


@pytest.mark.parametrize("text", ["🎉" * 2_048, "a" + "🎉" * 2_047])
def test_emoji_that_fit_are_not_truncated(
    telegram: TelegramChannel, receiver: Receiver, text: str
) -> None:
    assert text_sent(telegram, receiver, text) == text


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("ask @joe", "ask @\u2060joe"),
        ("(@joe) @all", "(@\u2060joe) @\u2060all"),
        ("joe@example.org", "joe@example.org"),
        ("a @ b", "a @ b"),
        ("https://example.org/@joe/1 @joe", "https://example.org/@joe/1 @\u2060joe"),
        ("https://@joe", "https://@\u2060joe"),
    ],
)
def test_mentions_by_name_are_escaped(
    telegram: TelegramChannel, receiver: Receiver, text: str, sent: str
) -> None:
    assert text_sent(telegram, receiver, text) == sent


# Answers.


def test_a_short_reply_to_a_press_is_a_callback_answer(
    telegram: TelegramChannel, receiver: Receiver
) -> None:
    answer_json(receiver, 200, {"ok": True, "result": True})
    telegram.reply(a_platform_message("telegram", "42", **PRESS), ChatMessage("Done."))
    (request,) = receiver.requests
    assert request.path.endswith("/answerCallbackQuery")
    assert request.json == {"callback_query_id": "q-9", "text": "Done."}


@pytest.mark.parametrize("message", [ChatMessage("x" * 201), MESSAGE_WITH_BUTTONS])
def test_a_longer_reply_to_a_press_is_a_message(
    telegram: TelegramChannel, receiver: Receiver, message: ChatMessage
) -> None:
    answer_json(receiver, 200, YES)
    telegram.reply(a_platform_message("telegram", "42", **PRESS), message)
    said, ended = receiver.requests
    assert said.json["text"] == message.text
    assert ended.json == {"callback_query_id": "q-9"}


def test_a_failed_callback_answer_does_not_fail_the_message(
    telegram: TelegramChannel, receiver: Receiver
) -> None:
    answer_json(receiver, 200, YES)
    queue_error(receiver, 500, "Internal Server Error")
    telegram.reply(a_platform_message("telegram", "42", **PRESS), MESSAGE_WITH_BUTTONS)
    assert len(receiver.requests) == 2


@pytest.mark.parametrize("private_target", ["7", None])  # None: queued by an older version
def test_an_expired_press_in_a_group_is_answered_in_private(
    telegram: TelegramChannel, receiver: Receiver, private_target: str | None
) -> None:
    queue_error(receiver, 400, "Bad Request: query is too old and response timeout expired")
    answer_json(receiver, 200, YES)
    press = a_platform_message("telegram", "-42", private_target, **PRESS)
    telegram.reply(press, ChatMessage("Done."))
    assert [request.json.get("chat_id") for request in receiver.requests] == [None, "7"]


def test_a_redriven_press_is_answered_in_private(
    telegram: TelegramChannel, receiver: Receiver
) -> None:
    answer_json(receiver, 200, YES)
    telegram.reply(a_platform_message("telegram", "-42", "7"), ChatMessage("Done."))
    assert [request.json["chat_id"] for request in receiver.requests] == ["7"]


def test_a_person_who_never_wrote_to_the_bot_gets_a_line_without_content(
    telegram: TelegramChannel, receiver: Receiver
) -> None:
    queue_error(receiver, 400, "Bad Request: query is too old and response timeout expired")
    queue_error(receiver, 403, "Forbidden: bot can't initiate conversation with a user")
    answer_json(receiver, 200, YES)
    telegram.reply(a_platform_message("telegram", "-42", "7", **PRESS), ChatMessage("Done."))
    last = receiver.requests[-1].json
    assert (last["chat_id"], last["text"]) == ("-42", NO_PRIVATE_CHAT.text)


def test_other_errors_of_a_press_are_raised(telegram: TelegramChannel, receiver: Receiver) -> None:
    queue_error(receiver, 502, "Bad Gateway")
    error = error_of(
        lambda: telegram.reply(a_platform_message("telegram", "42", **PRESS), ChatMessage("Done."))
    )
    assert isinstance(error, ChatError)
    assert len(receiver.requests) == 1


# Somewhere else.


def test_a_message_follows_a_group_that_became_a_supergroup(
    telegram: TelegramChannel, receiver: Receiver
) -> None:
    queue_error(
        receiver,
        400,
        "Bad Request: group chat was upgraded to a supergroup chat",
        migrate_to_chat_id=-100123,
    )
    answer_json(receiver, 200, YES)
    telegram.send("-5", HELLO, idempotency_key="k")
    assert [request.json["chat_id"] for request in receiver.requests] == ["-5", -100123]


def test_a_chat_that_migrates_repeatedly_is_not_followed(
    telegram: TelegramChannel, receiver: Receiver
) -> None:
    queue_error(receiver, 400, "Bad Request: upgraded", migrate_to_chat_id=-100123)
    assert isinstance(send_error(telegram, "-5"), ChatError)
    assert len(receiver.requests) == 2


def test_a_message_for_a_deleted_topic_is_sent_to_its_chat(
    telegram: TelegramChannel, receiver: Receiver
) -> None:
    queue_error(receiver, 400, "Bad Request: message thread not found")
    answer_json(receiver, 200, YES)
    telegram.send("-5:7", HELLO, idempotency_key="k")
    first, second = receiver.requests
    assert (first.json["message_thread_id"], second.json["chat_id"]) == (7, "-5")
    assert "message_thread_id" not in second.json


# What goes wrong otherwise.


@pytest.mark.parametrize("body", [{}, {"ok": 1}, {"ok": False}])
def test_a_success_status_without_ok_has_an_unknown_effect(
    telegram: TelegramChannel, receiver: Receiver, body: dict[str, Any]
) -> None:
    answer_json(receiver, 200, body)
    assert isinstance(send_error(telegram, "42"), UnreadableResponseError)


# Pace.


def test_the_topics_of_a_chat_share_its_rate_limit(
    telegram: TelegramChannel, clock: ManualClock, receiver: Receiver
) -> None:
    answer_json(receiver, 200, YES)
    for target in ("-1001:7", "-1001:8", "-1001"):
        telegram.send(target, HELLO, idempotency_key="k")
    assert clock.now() == NOW + 2 * SECOND


def test_a_rate_limit_longer_than_the_remaining_time_is_raised(
    telegram: TelegramChannel, receiver: Receiver, clock: ManualClock
) -> None:
    answer_json(receiver, 200, YES)
    queue_error(receiver, 429, "Too Many Requests: retry after 2", retry_after=2)
    telegram.send("42", HELLO, idempotency_key="k")
    error = send_error(telegram, "42")
    assert isinstance(error, RateLimitedError)
    assert (len(receiver.requests), clock.now()) == (2, NOW + SECOND)


def test_a_rate_limit_without_retry_after_is_read_from_its_text(
    telegram: TelegramChannel, receiver: Receiver
) -> None:
    queue_error(receiver, 429, "Too Many Requests: retry after 1200")
    assert decision_after(send_error(telegram, "42")).delay == timedelta(minutes=20)


def test_all_chats_together_receive_thirty_messages_a_second(clock: ManualClock) -> None:
    http_client, at = ListHttpClient(YES), []
    channel = TelegramChannel(http_client, TOKENS, clock)
    for chat in range(70):
        channel.send(str(chat), HELLO, idempotency_key="k")
        at.append(clock.now())
    assert [at.count(NOW + second * SECOND) for second in range(3)] == [30, 30, 10]


def test_a_send_with_a_migration_and_a_wait_keeps_its_time_limit(
    telegram: TelegramChannel, receiver: Receiver, clock: ManualClock
) -> None:
    queue_error(receiver, 429, "Too Many Requests", retry_after=2)
    queue_error(receiver, 400, "Bad Request: message thread not found")
    error = send_error(telegram, "42:7")
    assert isinstance(error, LocalRateLimitError)
    assert clock.now() <= NOW + 3 * SECOND
