"""Sending to Slack: request format, response URLs, and errors with status 200."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from duecourse.adapters.channels.errors import ChatError, UnreadableResponseError
from duecourse.adapters.channels.private_reply import NO_PRIVATE_CHAT
from duecourse.adapters.channels.slack.outbound import RESPONSE_URL_PREFIXES, SlackChannel
from duecourse.domain.chat.chat_message import ChatMessage

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
    error_of,
    exposed_text,
    send_error,
)
from tests.support.fakes.clock import ManualClock
from tests.support.receiver import Receiver
from tests.unit.adapters.channels.all_platforms.platforms import SLACK

YES = SLACK.success_body


@pytest.fixture
def slack(receiver: Receiver, clock: ManualClock) -> SlackChannel:
    hooks = [receiver.url("/commands/")]
    return SlackChannel(
        HTTP_CLIENT, TOKENS, clock, endpoint=receiver.url("/api"), response_url_prefixes=hooks
    )


def body_sent(slack: SlackChannel, receiver: Receiver, message: ChatMessage) -> Any:
    answer_json(receiver, 200, YES)
    slack.send("C1", message, idempotency_key="k")
    return receiver.requests[-1].json


# What goes out.


def test_a_text_is_sent_plain_and_without_a_preview(
    slack: SlackChannel, receiver: Receiver
) -> None:
    answer_json(receiver, 200, YES)
    slack.send("C1:17.5", ChatMessage("*hey* https://example.org"), idempotency_key="k")
    (request,) = receiver.requests
    assert (request.method, request.path) == ("POST", "/api/chat.postMessage")
    assert request.headers["authorization"] == f"Bearer {TOKEN}"
    assert request.headers["content-type"] == "application/json; charset=utf-8"
    assert request.json == {
        "channel": "C1",
        "thread_ts": "17.5",
        "text": "*hey* https://example.org",
        "mrkdwn": False,
        "unfurl_links": False,
        "unfurl_media": False,
    }


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("<!channel> now", "&lt;!channel&gt; now"),
        ("<@U123> <#C1|x>", "&lt;@U123&gt; &lt;#C1|x&gt;"),
        ("<https://evil.example|bank>", "&lt;https://evil.example|bank&gt;"),
        ("&lt;!here&gt;", "&amp;lt;!here&amp;gt;"),
        ("<!date^1^{date}|x>", "&lt;!date^1^{date}|x&gt;"),
    ],
)
def test_mentions_and_links_in_a_text_are_escaped(
    slack: SlackChannel, receiver: Receiver, text: str, sent: str
) -> None:
    assert body_sent(slack, receiver, ChatMessage(text))["text"] == sent


def test_buttons_are_sent_below_a_plain_text(slack: SlackChannel, receiver: Receiver) -> None:
    body = body_sent(slack, receiver, ChatMessage("<!here> done?", MESSAGE_WITH_BUTTONS.buttons))
    section, actions = body["blocks"]
    assert body["text"] == "&lt;!here&gt; done?"
    assert section == {
        "type": "section",
        "text": {"type": "plain_text", "text": "<!here> done?", "emoji": False},
    }
    assert actions["type"] == "actions"
    done, snooze = actions["elements"]
    assert done == {
        "type": "button",
        "action_id": "say-0",
        "text": {"type": "plain_text", "text": "Done", "emoji": False},
        "value": "/done a1b2c3d4",
    }
    assert (snooze["action_id"], snooze["value"]) == ("say-1", "/snooze a1b2c3d4 1h")


def test_a_text_is_truncated_at_the_slack_limit(slack: SlackChannel, receiver: Receiver) -> None:
    body = body_sent(slack, receiver, ChatMessage("&" * 5_000, MESSAGE_WITH_BUTTONS.buttons))
    plain = body["blocks"][0]["text"]["text"]
    assert 3_990 <= len(body["text"]) <= 4_000
    assert body["text"].endswith("more characters)")
    assert 2_990 <= len(plain) <= 3_000
    assert plain.endswith("more characters)")


# Answers.


def test_a_reply_to_a_response_url_is_ephemeral(slack: SlackChannel, receiver: Receiver) -> None:
    receiver.answer(200, b"ok")
    url = receiver.url("/commands/T1/2/s3cret")
    slack.reply(a_platform_message("slack", "C1", response_url=url), ChatMessage("<!here> listed"))
    (request,) = receiver.requests
    assert request.path == "/commands/T1/2/s3cret"
    assert "authorization" not in request.headers
    assert request.json == {
        "text": "&lt;!here&gt; listed",
        "mrkdwn": False,
        "response_type": "ephemeral",
        "replace_original": False,
    }


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks.slack.com.evil.example/commands/1",
        "https://evil.example/hooks.slack.com/",
        "http://hooks.slack.com/commands/1",
        "https://hooks.slack.com@evil.example/",
        "",
    ],
)
def test_a_response_url_outside_slack_is_not_requested(clock: ManualClock, url: str) -> None:
    http_client = ListHttpClient(YES)
    SlackChannel(http_client, TOKENS, clock).reply(
        a_platform_message("slack", "D9", response_url=url), HELLO
    )
    assert http_client.urls == ["https://slack.com/api/chat.postMessage"]


@pytest.mark.parametrize("hook", [f"{hook}commands/1/2/3" for hook in RESPONSE_URL_PREFIXES])
def test_a_response_url_of_slack_is_requested(clock: ManualClock, hook: str) -> None:
    http_client = ListHttpClient(YES)
    SlackChannel(http_client, TOKENS, clock).reply(
        a_platform_message("slack", "D9", response_url=hook), HELLO
    )
    assert http_client.urls == [hook]


@pytest.mark.parametrize(
    ("status", "body"),
    [(404, b"expired_url"), (404, b"used_url"), (410, b""), (200, b'{"ok":false,"error":"x"}')],
)
def test_an_expired_response_url_is_replaced_by_a_message(
    slack: SlackChannel, receiver: Receiver, status: int, body: bytes
) -> None:
    receiver.answer(status, body)
    answer_json(receiver, 200, YES)
    url = receiver.url("/commands/T1/2/s3cret")
    slack.reply(a_platform_message("slack", "D9", response_url=url), HELLO)
    assert [request.path for request in receiver.requests] == [
        "/commands/T1/2/s3cret",
        "/api/chat.postMessage",
    ]


@pytest.mark.parametrize("private_target", ["U7", None])  # None: queued by an older version
@pytest.mark.parametrize("has_response_url", [True, False])
def test_a_private_reply_without_a_valid_response_url_is_a_direct_message(
    slack: SlackChannel, receiver: Receiver, private_target: str | None, has_response_url: bool
) -> None:
    context = {"response_url": receiver.url("/commands/T1/2/s3cret")} if has_response_url else {}
    if has_response_url:
        receiver.answer(404, b"expired_url")
    answer_json(receiver, 200, YES)
    slack.reply(a_platform_message("slack", "C1:17.5", private_target, **context), HELLO)
    sent = receiver.requests[-1].json
    assert (sent["channel"], sent["text"]) == (private_target or "7", HELLO.text)
    assert "thread_ts" not in sent


def test_a_sender_without_direct_messages_gets_a_line_without_content(
    slack: SlackChannel, receiver: Receiver
) -> None:
    answer_json(receiver, 200, {"ok": False, "error": "messages_tab_disabled"})
    answer_json(receiver, 200, YES)
    slack.reply(a_platform_message("slack", "C1:17.5", "U7"), HELLO)
    private, public = [(one.json["channel"], one.json["text"]) for one in receiver.requests]
    assert (private, public) == (("U7", HELLO.text), ("C1", NO_PRIVATE_CHAT.text))


def test_a_public_mention_is_answered_in_its_channel(
    slack: SlackChannel, receiver: Receiver
) -> None:
    answer_json(receiver, 200, YES)
    mention = replace(a_platform_message("slack", "C1:17.5"), is_private=False)
    slack.reply(mention, HELLO)
    assert receiver.requests[0].json["channel"] == "C1"


@pytest.mark.parametrize("status", [429, 500])
def test_a_busy_response_url_raises_a_retryable_error(
    slack: SlackChannel, receiver: Receiver, status: int
) -> None:
    answer_json(receiver, status, {"ok": False, "error": "no s3cret"}, Retry_After="30")
    url = receiver.url("/commands/T1/2/s3cret")
    error = error_of(
        lambda: slack.reply(a_platform_message("slack", "D9", response_url=url), HELLO)
    )
    assert isinstance(error, ChatError)
    assert len(receiver.requests) == 1
    assert "s3cret" not in exposed_text(error)


# What goes wrong, and the pace.


@pytest.mark.parametrize("body", [{}, {"ok": "true"}, {"ok": False}])
def test_a_success_status_without_ok_has_an_unknown_effect(
    slack: SlackChannel, receiver: Receiver, body: dict[str, Any]
) -> None:
    answer_json(receiver, 200, body)
    assert isinstance(send_error(slack, "C1"), UnreadableResponseError)


def test_a_rate_limit_can_have_a_success_status(
    slack: SlackChannel, receiver: Receiver, clock: ManualClock
) -> None:
    answer_json(receiver, 200, {"ok": False, "error": "rate_limited"}, Retry_After="2")
    answer_json(receiver, 200, YES)
    slack.send("C1", HELLO, idempotency_key="k")
    assert (len(receiver.requests), clock.now()) == (2, NOW + 2 * SECOND)


def test_the_threads_of_a_channel_share_its_rate_limit(
    slack: SlackChannel, receiver: Receiver, clock: ManualClock
) -> None:
    answer_json(receiver, 200, YES)
    for target in ("C1:17.5", "C1:18.5", "C1"):
        slack.send(target, HELLO, idempotency_key="k")
    assert clock.now() == NOW + 2 * SECOND
