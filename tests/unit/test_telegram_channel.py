"""What Telegram is told, at what pace, and what is made of its answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from duecourse.adapters.chat.errors import ChatError, FloodError, TooSoonError, UnreadableError
from duecourse.adapters.telegram.outgoing import TelegramChannel
from duecourse.domain.chat.saying import Button, Saying
from duecourse.domain.errors import NotSetUpError, RecipientGoneError
from duecourse.domain.origin import Origin
from duecourse.domain.outgoing import NoAnswerError, NotSentError
from duecourse.domain.run import Effect
from duecourse.domain.status import Status

from tests.receiver import Receiver
from tests.unit.builders import NOW
from tests.unit.chat_cases import (
    CHOICES,
    HELLO,
    POSTER,
    SECOND,
    TOKEN,
    TOKENS,
    ListPoster,
    a_message,
    after,
    error_of,
    error_to,
    told,
    words_of,
)
from tests.unit.fakes import ManualClock
from tests.unit.provider_cases import DictKeys

YES = {"ok": True, "result": {"message_id": 1}}
PRESS = {"callback_query_id": "q-9", "is_press": "1"}


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW)


@pytest.fixture
def telegram(receiver: Receiver, clock: ManualClock) -> TelegramChannel:
    return TelegramChannel(POSTER, TOKENS, clock, endpoint=receiver.url("").removesuffix("/"))


def refused(receiver: Receiver, status: int, description: str, **parameters: Any) -> None:
    said = {"ok": False, "error_code": status, "description": description}
    told(receiver, status, {**said, "parameters": parameters})


def text_sent(telegram: TelegramChannel, receiver: Receiver, text: str) -> str:
    told(receiver, 200, YES)
    telegram.send("42", Saying(text), key="k")
    return str(receiver.requests[-1].json["text"])


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


# What goes out.


def test_a_text_goes_out_plain_and_without_a_preview(
    telegram: TelegramChannel, receiver: Receiver
) -> None:
    told(receiver, 200, YES)
    telegram.send("-1001:77", Saying("*no* <b>markup</b> https://example.org"), key="k")
    (request,) = receiver.requests
    assert (request.method, request.path) == ("POST", f"/bot{TOKEN}/sendMessage")
    assert request.json == {
        "chat_id": "-1001",
        "message_thread_id": 77,
        "text": "*no* <b>markup</b> https://example.org",
        "link_preview_options": {"is_disabled": True},
    }


def test_buttons_stand_two_in_a_row(telegram: TelegramChannel, receiver: Receiver) -> None:
    told(receiver, 200, YES)
    three = (*CHOICES.buttons, Button("Tomorrow", "/snooze a1b2c3d4 1d"))
    telegram.send("42", Saying("Done?", three), key="k")
    assert receiver.requests[0].json["reply_markup"]["inline_keyboard"] == [
        [
            {"text": "Done", "callback_data": "/done a1b2c3d4"},
            {"text": "1 h", "callback_data": "/snooze a1b2c3d4 1h"},
        ],
        [{"text": "Tomorrow", "callback_data": "/snooze a1b2c3d4 1d"}],
    ]


@pytest.mark.parametrize(("says", "is_kept"), [("ü" * 32, True), ("ü" * 32 + "x", False)])
def test_a_button_whose_command_is_over_64_bytes_is_left_out(
    telegram: TelegramChannel, receiver: Receiver, says: str, is_kept: bool
) -> None:
    told(receiver, 200, YES)
    telegram.send("42", Saying("Done?", (Button("Do", says),)), key="k")
    assert ("reply_markup" in receiver.requests[0].json) == is_kept


@pytest.mark.parametrize("text", ["x" * 4_096, "🎉" * 2_048, "a" + "🎉" * 2_047])
def test_what_just_fits_is_not_cut(
    telegram: TelegramChannel, receiver: Receiver, text: str
) -> None:
    assert text_sent(telegram, receiver, text) == text


@pytest.mark.parametrize("text", ["x" * 4_097, "🎉" * 2_049, "a" + "🎉" * 2_048, "x" * 100_000])
def test_what_does_not_fit_is_cut_and_says_by_how_much(
    telegram: TelegramChannel, receiver: Receiver, text: str
) -> None:
    shown, _, note = text_sent(telegram, receiver, text).partition("… (cut, ")
    missing = int(note.removesuffix(" characters more)").replace(",", ""))
    assert text.startswith(shown)
    assert len(shown) + missing == len(text)
    assert 4_096 - 2 <= units(f"{shown}… (cut, {note}") <= 4_096


def test_no_emoji_is_cut_in_two(telegram: TelegramChannel, receiver: Receiver) -> None:
    family = "👩🏽‍👩🏽‍👧🏽"
    shown, *_ = text_sent(telegram, receiver, family * 1_000).partition("…")
    assert set(shown.split(family)) == {""}


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("ask @joe", "ask @\u2060joe"),
        ("(@joe) @all", "(@\u2060joe) @\u2060all"),
        ("joe@example.org", "joe@example.org"),
        ("a @ b", "a @ b"),
    ],
)
def test_nobody_is_mentioned_by_name(
    telegram: TelegramChannel, receiver: Receiver, text: str, sent: str
) -> None:
    assert text_sent(telegram, receiver, text) == sent


def test_half_a_character_does_not_keep_the_rest_from_being_sent(
    telegram: TelegramChannel, receiver: Receiver
) -> None:
    assert text_sent(telegram, receiver, "half \ud83d") == "half ?"


# Answers.


def test_a_message_is_answered_where_it_was_said(
    telegram: TelegramChannel, receiver: Receiver
) -> None:
    told(receiver, 200, YES)
    telegram.answer(a_message("telegram", "42:7"), HELLO)
    (request,) = receiver.requests
    assert request.path.endswith("/sendMessage")
    assert (request.json["chat_id"], request.json["message_thread_id"]) == ("42", 7)


def test_only_whoever_pressed_sees_a_short_answer(
    telegram: TelegramChannel, receiver: Receiver
) -> None:
    told(receiver, 200, {"ok": True, "result": True})
    telegram.answer(a_message("telegram", "42", **PRESS), Saying("Done."))
    (request,) = receiver.requests
    assert request.path.endswith("/answerCallbackQuery")
    assert request.json == {"callback_query_id": "q-9", "text": "Done."}


@pytest.mark.parametrize("saying", [Saying("x" * 201), CHOICES])
def test_a_longer_answer_to_a_press_is_a_message(
    telegram: TelegramChannel, receiver: Receiver, saying: Saying
) -> None:
    told(receiver, 200, YES)
    telegram.answer(a_message("telegram", "42", **PRESS), saying)
    said, ended = receiver.requests
    assert said.json["text"] == saying.text
    assert ended.json == {"callback_query_id": "q-9"}


def test_a_button_that_cannot_be_ended_does_not_fail_what_was_said(
    telegram: TelegramChannel, receiver: Receiver
) -> None:
    told(receiver, 200, YES)
    refused(receiver, 500, "Internal Server Error")
    telegram.answer(a_message("telegram", "42", **PRESS), CHOICES)
    assert len(receiver.requests) == 2


def test_a_press_of_too_long_ago_is_answered_by_a_message(
    telegram: TelegramChannel, receiver: Receiver
) -> None:
    refused(receiver, 400, "Bad Request: query is too old and response timeout expired")
    told(receiver, 200, YES)
    telegram.answer(a_message("telegram", "42", **PRESS), Saying("Done."))
    assert [request.json.get("chat_id") for request in receiver.requests] == [None, "42"]


def test_a_press_that_fails_otherwise_is_raised(
    telegram: TelegramChannel, receiver: Receiver
) -> None:
    refused(receiver, 502, "Bad Gateway")
    error = error_of(lambda: telegram.answer(a_message("telegram", "42", **PRESS), Saying("Done.")))
    assert isinstance(error, ChatError)
    assert len(receiver.requests) == 1


# Nobody there.


@pytest.mark.parametrize(
    ("status", "description"),
    [
        (403, "Forbidden: bot was blocked by the user"),
        (403, "Forbidden: user is deactivated"),
        (403, "Forbidden: bot was kicked from the supergroup chat"),
        (403, "Forbidden: bot can't initiate conversation with a user"),
        (400, "Bad Request: chat not found"),
        (400, "Bad Request: group chat was deactivated"),
        (400, "Bad Request: not enough rights to send text messages to the chat"),
    ],
)
def test_somebody_who_cannot_be_reached_is_not_tried_again(
    telegram: TelegramChannel, receiver: Receiver, status: int, description: str
) -> None:
    refused(receiver, status, description)
    error = error_to(telegram, "42")
    assert isinstance(error, RecipientGoneError)
    assert (error.type, error.code, error.status) == ("RecipientGone", "recipient_gone", status)
    assert str(error) == f"telegram reaches nobody there: {description}"
    decision = after(error)
    assert (decision.status, decision.category.name) == (Status.FAILED, "recipient_gone")


def test_a_group_that_became_a_supergroup_is_found_there(
    telegram: TelegramChannel, receiver: Receiver
) -> None:
    refused(
        receiver,
        400,
        "Bad Request: group chat was upgraded to a supergroup chat",
        migrate_to_chat_id=-100123,
    )
    told(receiver, 200, YES)
    telegram.send("-5", HELLO, key="k")
    assert [request.json["chat_id"] for request in receiver.requests] == ["-5", -100123]


def test_a_chat_that_moves_for_ever_is_not_followed(
    telegram: TelegramChannel, receiver: Receiver
) -> None:
    refused(receiver, 400, "Bad Request: upgraded", migrate_to_chat_id=-100123)
    assert isinstance(error_to(telegram, "-5"), ChatError)
    assert len(receiver.requests) == 2


def test_what_was_for_a_topic_that_is_gone_comes_to_its_chat(
    telegram: TelegramChannel, receiver: Receiver
) -> None:
    refused(receiver, 400, "Bad Request: message thread not found")
    told(receiver, 200, YES)
    telegram.send("-5:7", HELLO, key="k")
    first, second = receiver.requests
    assert (first.json["message_thread_id"], second.json["chat_id"]) == (7, "-5")
    assert "message_thread_id" not in second.json


# What goes wrong otherwise.


@pytest.mark.parametrize(
    ("status", "description", "code"),
    [
        (401, "Unauthorized", "invalid_token"),
        (404, "Not Found", "invalid_token"),
        (400, "Bad Request: message text is empty", None),
        (500, "Internal Server Error", None),
        (502, "Bad Gateway", None),
    ],
)
def test_what_is_not_about_the_recipient_is_tried_again(
    telegram: TelegramChannel, receiver: Receiver, status: int, description: str, code: str | None
) -> None:
    refused(receiver, status, description)
    error = error_to(telegram, "42")
    assert isinstance(error, ChatError)
    assert (error.status, error.code, error.retry_after) == (status, code, None)
    assert str(error).startswith(f"telegram answered {status}: {description}")
    assert after(error).delay == timedelta(minutes=2)


@pytest.mark.parametrize("body", [b"", b"<html>hello</html>", b"[1]", b'"ok"', b'{"ok": 1}', b"{"])
def test_a_yes_that_cannot_be_read_may_have_arrived(
    telegram: TelegramChannel, receiver: Receiver, body: bytes
) -> None:
    receiver.answer(200, body)
    error = error_to(telegram, "42")
    assert isinstance(error, UnreadableError)
    assert (error.code, error.effect) == ("bad_answer", Effect.UNKNOWN)


@pytest.mark.parametrize("body", [b"", b"<html>busy</html>", b"\xff\xfe", b"[" * 100_000])
def test_an_error_that_cannot_be_read_is_one_by_its_status(
    telegram: TelegramChannel, receiver: Receiver, body: bytes
) -> None:
    receiver.answer(503, body)
    error = error_to(telegram, "42")
    assert str(error) == "telegram answered 503: no words"


def test_silence_is_raised_as_it_is(telegram: TelegramChannel, receiver: Receiver) -> None:
    receiver.drop()
    assert isinstance(error_to(telegram, "42"), NoAnswerError)


def test_long_words_are_cut(telegram: TelegramChannel, receiver: Receiver) -> None:
    refused(receiver, 500, "very\n" * 10_000)
    assert len(str(error_to(telegram, "42"))) < 600


# The token.


@pytest.mark.parametrize("token", ["", " \n", "two words", "päss", "a/../b", "x" * 501])
def test_a_token_that_is_none_is_not_sent(
    receiver: Receiver, clock: ManualClock, token: str
) -> None:
    channel = TelegramChannel(POSTER, DictKeys(telegram=token), clock, endpoint=receiver.url(""))
    error = error_to(channel, "42")
    assert isinstance(error, NotSetUpError)
    assert str(error) == "the token of telegram is not set up here"
    assert receiver.requests == []


def test_a_pasted_token_may_end_with_a_line_break(receiver: Receiver, clock: ManualClock) -> None:
    told(receiver, 200, YES)
    tokens = DictKeys(telegram=f"{TOKEN}\n")
    channel = TelegramChannel(POSTER, tokens, clock, endpoint=receiver.url("").removesuffix("/"))
    channel.send("42", HELLO, key="k")
    assert receiver.requests[0].path == f"/bot{TOKEN}/sendMessage"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500])
def test_an_error_that_quotes_the_token_is_told_without_it(
    telegram: TelegramChannel, receiver: Receiver, status: int
) -> None:
    refused(receiver, status, f"{status} at /bot{TOKEN}/sendMessage", retry_after=60)
    error = error_to(telegram, "42")
    assert TOKEN not in words_of(error)
    assert "[redacted]" in str(error)


@pytest.mark.parametrize("misbehaviour", ["drop", "cut_short", "redirect", "garbage"])
def test_no_error_on_the_way_holds_the_token(
    telegram: TelegramChannel, receiver: Receiver, misbehaviour: str
) -> None:
    match misbehaviour:
        case "drop":
            receiver.drop()
        case "cut_short":
            receiver.cut_short()
        case "redirect":
            receiver.redirect(f"http://127.0.0.1/bot{TOKEN}")
        case _:
            receiver.say(b"garbage\r\n\r\n")
    assert TOKEN not in words_of(error_to(telegram, "42"))


def test_a_host_that_is_not_there_is_told_without_the_token(clock: ManualClock) -> None:
    channel = TelegramChannel(POSTER, TOKENS, clock, endpoint="http://127.0.0.1:1")
    error = error_to(channel, "42")
    assert isinstance(error, NotSentError)
    assert TOKEN not in words_of(error)


# Pace.


def test_a_short_flood_is_waited_for_once(
    telegram: TelegramChannel, receiver: Receiver, clock: ManualClock
) -> None:
    refused(receiver, 429, "Too Many Requests: retry after 2", retry_after=2)
    told(receiver, 200, YES)
    telegram.send("42", HELLO, key="k")
    assert (len(receiver.requests), clock.now()) == (2, NOW + 2 * SECOND)


def test_a_second_flood_is_raised(
    telegram: TelegramChannel, receiver: Receiver, clock: ManualClock
) -> None:
    refused(receiver, 429, "Too Many Requests: retry after 1", retry_after=1)
    error = error_to(telegram, "42")
    assert isinstance(error, FloodError)
    assert (len(receiver.requests), clock.now()) == (2, NOW + SECOND)


def test_a_long_flood_raises_the_wait_of_the_policy(
    telegram: TelegramChannel, receiver: Receiver, clock: ManualClock
) -> None:
    refused(receiver, 429, "Too Many Requests: retry after 600", retry_after=600)
    error = error_to(telegram, "42")
    assert isinstance(error, FloodError)
    assert (error.status, error.retry_after) == (429, 600 * SECOND)
    assert after(error).delay == timedelta(minutes=10)
    assert (len(receiver.requests), clock.now()) == (1, NOW)


def test_a_flood_that_no_time_is_left_for_is_raised_as_one(
    telegram: TelegramChannel, receiver: Receiver, clock: ManualClock
) -> None:
    told(receiver, 200, YES)
    refused(receiver, 429, "Too Many Requests: retry after 2", retry_after=2)
    telegram.send("42", HELLO, key="k")
    error = error_to(telegram, "42")
    assert isinstance(error, FloodError)
    assert (len(receiver.requests), clock.now()) == (2, NOW + SECOND)


def test_what_follows_a_long_flood_in_that_chat_is_not_even_tried(
    telegram: TelegramChannel, receiver: Receiver
) -> None:
    refused(receiver, 429, "Too Many Requests: retry after 600", retry_after=600)
    told(receiver, 200, YES)
    error_to(telegram, "42")
    error = error_to(telegram, "42")
    assert isinstance(error, TooSoonError)
    assert (error.origin, error.status) == (Origin.NOT_ATTEMPTED, 429)
    assert error.retry_after == 600 * SECOND
    assert not after(error).counts
    telegram.send("43", HELLO, key="k")
    assert len(receiver.requests) == 2


def test_a_flood_without_a_time_is_told_by_its_words(
    telegram: TelegramChannel, receiver: Receiver
) -> None:
    refused(receiver, 429, "Too Many Requests: retry after 1200")
    assert after(error_to(telegram, "42")).delay == timedelta(minutes=20)


def test_a_chat_hears_one_message_a_second(clock: ManualClock) -> None:
    poster = ListPoster(YES)
    channel = TelegramChannel(poster, TOKENS, clock)
    for _ in range(40):
        channel.send("42", HELLO, key="k")
    assert (len(poster.urls), clock.now()) == (40, NOW + 39 * SECOND)


def test_all_chats_together_hear_thirty_a_second(clock: ManualClock) -> None:
    poster, at = ListPoster(YES), []
    channel = TelegramChannel(poster, TOKENS, clock)
    for chat in range(70):
        channel.send(str(chat), HELLO, key="k")
        at.append(clock.now())
    assert [at.count(NOW + second * SECOND) for second in range(3)] == [30, 30, 10]


def test_a_send_has_three_seconds_in_all(clock: ManualClock) -> None:
    poster = ListPoster(YES)
    channel = TelegramChannel(poster, TOKENS, clock)
    channel.send("42", HELLO, key="k")
    channel.send("42", HELLO, key="k")
    assert poster.timeouts == [3 * SECOND, 2 * SECOND]
    assert poster.urls[0] == f"https://api.telegram.org/bot{TOKEN}/sendMessage"


def test_a_send_that_moves_and_waits_keeps_within_its_time(
    telegram: TelegramChannel, receiver: Receiver, clock: ManualClock
) -> None:
    refused(receiver, 429, "Too Many Requests", retry_after=2)
    refused(receiver, 400, "Bad Request: message thread not found")
    error = error_to(telegram, "42:7")
    assert isinstance(error, TooSoonError)
    assert clock.now() <= NOW + 3 * SECOND


def test_the_body_is_json_in_utf_8(telegram: TelegramChannel, receiver: Receiver) -> None:
    told(receiver, 200, YES)
    telegram.send("42", Saying("grüß 🎉"), key="k")
    (request,) = receiver.requests
    assert request.headers["content-type"] == "application/json; charset=utf-8"
    assert json.loads(request.body.decode())["text"] == "grüß 🎉"
