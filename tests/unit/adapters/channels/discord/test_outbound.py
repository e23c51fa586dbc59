"""Sending to Discord: request format, interaction replies and rate limit headers."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from duecourse.adapters.channels.discord.markdown import escape_markdown
from duecourse.adapters.channels.discord.outbound import DiscordChannel
from duecourse.adapters.channels.errors import ChatError, LocalRateLimitError, RateLimitedError
from duecourse.adapters.channels.private_reply import NO_PRIVATE_CHAT
from duecourse.domain.chat.chat_message import Button, ChatMessage
from duecourse.domain.errors import RecipientGoneError
from duecourse.domain.http.exchange import NotSentError
from duecourse.domain.origin import Effect

from tests.support.builders.moments import NOW
from tests.support.chat_cases import (
    HELLO,
    HTTP_CLIENT,
    MESSAGE_WITH_BUTTONS,
    SECOND,
    TOKEN,
    TOKENS,
    a_platform_message,
    answer_json,
    decision_after,
    error_of,
    exposed_text,
    send_error,
)
from tests.support.fakes.clock import ManualClock
from tests.support.receiver import Receiver
from tests.unit.adapters.channels.all_platforms.platforms import DISCORD

YES = DISCORD.success_body
COMMAND = {"application_id": "99", "interaction_token": "aW50:s3cret"}
PRESS = {**COMMAND, "is_press": "1"}


@pytest.fixture
def discord(receiver: Receiver, clock: ManualClock) -> DiscordChannel:
    return DiscordChannel(HTTP_CLIENT, TOKENS, clock, endpoint=receiver.url("/api"))


def body_sent(
    discord: DiscordChannel, receiver: Receiver, message: ChatMessage, key: str = "k"
) -> Any:
    answer_json(receiver, 200, YES)
    discord.send("42", message, idempotency_key=key)
    return receiver.requests[-1].json


# What goes out.


def test_a_text_is_sent_without_mentions_and_previews(
    discord: DiscordChannel, receiver: Receiver
) -> None:
    body = body_sent(discord, receiver, HELLO)
    (request,) = receiver.requests
    assert (request.method, request.path) == ("POST", "/api/channels/42/messages")
    assert request.headers["authorization"] == f"Bot {TOKEN}"
    assert request.headers["user-agent"].startswith("DiscordBot (")
    assert len(body.pop("nonce")) == 25
    assert body == {
        "content": "Reminder: stand-up",
        "allowed_mentions": {"parse": []},
        "flags": 4,
        "enforce_nonce": True,
    }


def test_a_repeated_send_has_the_same_nonce(discord: DiscordChannel, receiver: Receiver) -> None:
    first, again, other = (
        body_sent(discord, receiver, HELLO, key)["nonce"] for key in ("a", "a", "b")
    )
    assert first == again != other


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("**bold** _it_ ~~no~~", r"\*\*bold\*\* \_it\_ \~\~no\~\~"),
        ("||spoiler|| `code`", r"\|\|spoiler\|\| \`code\`"),
        ("# head\n> quote\n- list", "\\# head\n\\> quote\n\\- list"),
        ("-# small", r"\-\# small"),
        ("  1. one", r"  1\. one"),
        ("<t:1:R> <@1> <@&2> <#3>", r"\<t:1:R\> \<\@1\> \<\@&2\> \<\#3\>"),
        ("@everyone", r"\@everyone"),
        ("back\\slash", r"back\\slash"),
        ("at 8:30 - all of us", "at 8:30 - all of us"),
        ("see https://example.org/a_b_c.", "see <https://example.org/a_b_c>."),
        (
            "(https://en.wikipedia.org/wiki/Tide_(sea))",
            r"\(<https://en.wikipedia.org/wiki/Tide_(sea)>\)",
        ),
        ("[bank](https://evil.example)", r"\[bank\]\(<https://evil.example>\)"),
        ("https://x.example/*b*", r"https://x.example/\*b\*"),
        ("https://x.example - no list", "<https://x.example> - no list"),
        ("- https://x.example", r"\- <https://x.example>"),
        ("https://x.example\n- list", "<https://x.example>\n\\- list"),
        ("<https://x.example|y>", r"\<https://x.example\|y\>"),
    ],
)
def test_markup_in_a_text_is_escaped(text: str, sent: str) -> None:
    assert escape_markdown(text) == sent


def test_many_incomplete_links_are_escaped_in_linear_time() -> None:
    assert escape_markdown("https://a/(" * 400).count("\\(") == 400


def test_buttons_are_sent_in_rows_of_five(discord: DiscordChannel, receiver: Receiver) -> None:
    buttons = tuple(Button(f"b{n}", f"/b {n}") for n in range(30))
    rows = body_sent(discord, receiver, ChatMessage("Which?", buttons))["components"]
    assert [row["type"] for row in rows] == [1] * 5
    assert [len(row["components"]) for row in rows] == [5] * 5
    assert rows[0]["components"][0] == {
        "type": 2,
        "style": 2,
        "label": "b0",
        "custom_id": "/b 0",
    }


@pytest.mark.parametrize("text", ["*" * 1_001, "https://x.example " * 300])
def test_truncation_counts_escapes(discord: DiscordChannel, receiver: Receiver, text: str) -> None:
    content = body_sent(discord, receiver, ChatMessage(text))["content"]
    assert 1_950 <= len(content) <= 2_000
    assert content.endswith(r"more characters\)")


def test_a_text_that_fits_with_its_escapes_is_not_truncated(
    discord: DiscordChannel, receiver: Receiver
) -> None:
    assert body_sent(discord, receiver, ChatMessage("*" * 1_000))["content"] == r"\*" * 1_000


# Answers.


def test_a_command_reply_replaces_the_acknowledgement(
    discord: DiscordChannel, receiver: Receiver
) -> None:
    answer_json(receiver, 200, YES)
    discord.reply(a_platform_message("discord", "42", **COMMAND), MESSAGE_WITH_BUTTONS)
    (request,) = receiver.requests
    assert request.method == "PATCH"
    assert request.path == "/api/webhooks/99/aW50%3As3cret/messages/@original"
    assert "authorization" not in request.headers
    assert request.json["content"] == "Done?"
    assert request.json["flags"] == 4
    assert request.json["allowed_mentions"] == {"parse": []}
    assert request.json["components"]


def test_the_reply_to_a_button_press_is_ephemeral(
    discord: DiscordChannel, receiver: Receiver
) -> None:
    answer_json(receiver, 200, YES)
    discord.reply(a_platform_message("discord", "42", **PRESS), HELLO)
    (request,) = receiver.requests
    assert (request.method, request.path) == ("POST", "/api/webhooks/99/aW50%3As3cret")
    assert request.json["flags"] == 4 | 64


@pytest.mark.parametrize("answer_to", [COMMAND, PRESS])
@pytest.mark.parametrize(
    ("status", "code"), [(404, 10015), (404, 10008), (401, 50027), (404, 10062)]
)
def test_an_expired_interaction_is_answered_with_a_direct_message(
    discord: DiscordChannel, receiver: Receiver, status: int, code: int, answer_to: dict[str, str]
) -> None:
    answer_json(receiver, status, {"message": "Unknown", "code": code})
    answer_json(receiver, 200, {"id": "77", "type": 1})
    answer_json(receiver, 200, YES)
    discord.reply(a_platform_message("discord", "42", "user:8", **answer_to), HELLO)
    _, opened, sent = receiver.requests
    assert (opened.path, opened.json) == ("/api/users/@me/channels", {"recipient_id": "8"})
    assert (sent.path, sent.json["content"]) == ("/api/channels/77/messages", HELLO.text)


@pytest.mark.parametrize("private_target", ["user:7", None])  # None: queued by an older version
def test_a_redriven_message_is_answered_with_a_direct_message(
    discord: DiscordChannel, receiver: Receiver, private_target: str | None
) -> None:
    answer_json(receiver, 200, {"id": "77", "type": 1})
    answer_json(receiver, 200, YES)
    discord.reply(a_platform_message("discord", "42", private_target), HELLO)
    opened, sent = receiver.requests
    assert opened.json == {"recipient_id": "7"}
    assert sent.path == "/api/channels/77/messages"


@pytest.mark.parametrize("fails_at", ["open", "send"])
def test_a_sender_without_direct_messages_gets_a_line_without_content(
    discord: DiscordChannel, receiver: Receiver, fails_at: str
) -> None:
    if fails_at == "send":
        answer_json(receiver, 200, {"id": "77", "type": 1})
    answer_json(receiver, 403, {"message": "Cannot send messages to this user", "code": 50007})
    answer_json(receiver, 200, YES)
    discord.reply(a_platform_message("discord", "42", "user:7"), HELLO)
    last = receiver.requests[-1]
    assert last.path == "/api/channels/42/messages"
    assert last.json["content"] == NO_PRIVATE_CHAT.text
    assert all(HELLO.text not in str(one.json) for one in receiver.requests if "42" in one.path)


def test_no_message_is_sent_if_opening_the_direct_messages_has_no_answer(
    discord: DiscordChannel, receiver: Receiver
) -> None:
    receiver.drop_connection()
    error = send_error(discord, "user:7")
    assert isinstance(error, NotSentError)
    assert len(receiver.requests) == 1


def test_no_message_is_sent_if_a_gateway_fails_to_open_the_direct_messages(
    discord: DiscordChannel, receiver: Receiver
) -> None:
    receiver.answer(502, b"")
    error = send_error(discord, "user:7")
    assert isinstance(error, ChatError)
    assert error.effect is Effect.NONE


@pytest.mark.parametrize("body", [{}, {"id": "../42"}, {"id": None}])
def test_a_direct_channel_without_an_id_is_not_used(
    discord: DiscordChannel, receiver: Receiver, body: dict[str, Any]
) -> None:
    answer_json(receiver, 200, body)
    error = send_error(discord, "user:7")
    assert isinstance(error, ChatError)
    assert (error.effect, len(receiver.requests)) == (Effect.NONE, 1)


def test_other_interaction_errors_are_raised_without_the_token(
    discord: DiscordChannel, receiver: Receiver
) -> None:
    answer_json(receiver, 500, {"message": "at aW50:s3cret", "code": 0})
    error = error_of(lambda: discord.reply(a_platform_message("discord", "42", **COMMAND), HELLO))
    assert isinstance(error, ChatError)
    assert "s3cret" not in exposed_text(error)


# What goes wrong.


@pytest.mark.parametrize(
    "target",
    ["", "../users/@me", "42/../43", "general", "42?x", "٤٢", "9" * 21, "user:", "user:@me"],
)
def test_a_target_that_is_not_a_channel_id_is_not_requested(
    discord: DiscordChannel, receiver: Receiver, target: str
) -> None:
    assert isinstance(send_error(discord, target), RecipientGoneError)
    assert receiver.requests == []


# Limits.


def test_a_rate_limit_can_last_a_fraction_of_a_second(
    discord: DiscordChannel, receiver: Receiver, clock: ManualClock
) -> None:
    answer_json(receiver, 429, DISCORD.make_rate_limit(0.65).body)
    answer_json(receiver, 200, YES)
    discord.send("42", HELLO, idempotency_key="k")
    assert (len(receiver.requests), clock.now()) == (2, NOW + 0.65 * SECOND)


@pytest.mark.parametrize(("is_global", "request_count"), [(False, 2), (True, 1)])
def test_a_long_rate_limit_applies_to_one_channel_or_globally(
    discord: DiscordChannel, receiver: Receiver, is_global: bool, request_count: int
) -> None:
    answer_json(receiver, 429, {"message": "slow down", "retry_after": 240.5, "global": is_global})
    error = send_error(discord, "42")
    assert isinstance(error, RateLimitedError)
    assert decision_after(error).delay == 240.5 * SECOND
    assert isinstance(send_error(discord, "42"), LocalRateLimitError)
    send_error(discord, "43")
    assert len(receiver.requests) == request_count


def test_a_rate_limit_can_be_given_by_a_header_only(
    discord: DiscordChannel, receiver: Receiver
) -> None:
    receiver.answer(429, b"<html>banned</html>", headers={"Retry-After": "900"})
    assert decision_after(send_error(discord, "42")).delay == timedelta(minutes=15)


def test_a_send_waits_for_an_exhausted_bucket(
    discord: DiscordChannel, receiver: Receiver, clock: ManualClock
) -> None:
    answer_json(receiver, 200, YES, X_RateLimit_Remaining="0", X_RateLimit_Reset_After="1.2")
    answer_json(receiver, 200, YES, X_RateLimit_Remaining="4", X_RateLimit_Reset_After="5")
    discord.send("42", HELLO, idempotency_key="a")
    discord.send("43", HELLO, idempotency_key="b")
    assert clock.now() == NOW
    discord.send("42", HELLO, idempotency_key="c")
    assert clock.now() == NOW + 1.2 * SECOND


def test_a_send_does_not_wait_for_a_bucket_with_a_late_reset(
    discord: DiscordChannel, receiver: Receiver, clock: ManualClock
) -> None:
    answer_json(receiver, 200, YES, X_RateLimit_Remaining="0", X_RateLimit_Reset_After="30")
    discord.send("42", HELLO, idempotency_key="a")
    assert isinstance(send_error(discord, "42"), LocalRateLimitError)
    assert (clock.now(), len(receiver.requests)) == (NOW, 1)
