"""How every channel classifies an error response, and that no error contains a token."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NoReturn

import pytest
from duecourse.adapters.aws.cached_secret import SecretUnreadableError
from duecourse.adapters.channels.api_client import REFUSAL_MEMORY
from duecourse.adapters.channels.errors import ChatError, RateLimitedError, UnreadableResponseError
from duecourse.domain.errors import ChannelUnauthorizedError, RecipientGoneError
from duecourse.domain.failures.error_origin import effect_of, origin_of
from duecourse.domain.http.exchange import NoResponseError, NotSentError
from duecourse.domain.origin import Effect, Origin
from duecourse.domain.tasks.status import Status

from tests.support.chat_cases import MINUTE, TOKEN, TOKENS, decision_after, exposed_text
from tests.support.provider_cases import DictKeys
from tests.support.receiver import Receiver
from tests.unit.adapters.channels.all_platforms.platform_harness import PlatformHarness
from tests.unit.adapters.channels.all_platforms.platforms import PLATFORMS, PlatformResponse


@pytest.mark.parametrize(
    ("platform", "response"),
    [(platform, response) for platform in PLATFORMS for response in platform.recipient_gone],
    ids=str,
)
def test_an_unreachable_recipient_is_not_retried(
    harness: PlatformHarness, response: PlatformResponse
) -> None:
    harness.queue_responses(response)
    error = harness.error()
    assert isinstance(error, RecipientGoneError)
    assert (error.type, error.code) == ("RecipientGone", "recipient_gone")
    assert error.status == response.status
    assert (
        str(error) == f"{harness.platform.name} cannot reach the recipient: {response.error_text}"
    )
    decision = decision_after(error)
    assert (decision.status, decision.category.name) == (Status.FAILED, "recipient_gone")
    assert len(harness.receiver.requests) == 1


@pytest.mark.parametrize(
    ("platform", "response", "code"),
    [(platform, *error) for platform in PLATFORMS for error in platform.other_errors],
    ids=str,
)
def test_errors_not_caused_by_the_recipient_are_retried(
    harness: PlatformHarness, response: PlatformResponse, code: str | None
) -> None:
    harness.queue_responses(response)
    error = harness.error()
    assert isinstance(error, ChatError)
    assert (error.status, error.code, error.retry_after) == (response.status, code, None)
    assert str(error).startswith(
        f"{harness.platform.name} answered {response.status}: {response.error_text}"
    )
    assert (decision_after(error).status, decision_after(error).delay) == (
        Status.PENDING,
        2 * MINUTE,
    )
    assert len(harness.receiver.requests) == 1


@pytest.mark.parametrize(
    "body", [b"", b"ok", b"<html>hello</html>", b"[1]", b'"ok"', b"{", b"\xff"]
)
def test_an_unreadable_success_response_has_an_unknown_effect(
    harness: PlatformHarness, body: bytes
) -> None:
    harness.receiver.answer(200, body)
    error = harness.error()
    assert isinstance(error, UnreadableResponseError)
    assert (error.code, error.effect) == ("bad_answer", Effect.UNKNOWN)
    assert len(harness.receiver.requests) == 1


@pytest.mark.parametrize("body", [b"", b"<html>busy</html>", b"\xff\xfe", b"[" * 100_000])
def test_an_unreadable_error_response_is_classified_by_its_status(
    harness: PlatformHarness, body: bytes
) -> None:
    harness.receiver.answer(503, body)
    error = harness.error()
    assert isinstance(error, ChatError)
    assert (error.status, error.effect) == (503, Effect.NONE)
    assert str(error) == f"{harness.platform.name} answered 503: no words"


@pytest.mark.parametrize("misbehaviour", [Receiver.drop_connection, Receiver.truncate_body])
def test_a_lost_response_has_an_unknown_effect(
    harness: PlatformHarness, misbehaviour: Callable[[Receiver], None]
) -> None:
    misbehaviour(harness.receiver)
    error = harness.error()
    assert isinstance(error, NoResponseError)
    assert error.effect is Effect.UNKNOWN
    assert len(harness.receiver.requests) == 1


@pytest.mark.parametrize("status", [502, 504, 520, 524])
def test_a_gateway_error_has_an_unknown_effect(harness: PlatformHarness, status: int) -> None:
    harness.receiver.answer(status, b"<html>bad gateway</html>")
    error = harness.error()
    assert isinstance(error, ChatError)
    assert (error.status, error.effect) == (status, Effect.UNKNOWN)


def test_a_long_error_text_is_truncated(harness: PlatformHarness) -> None:
    harness.queue_responses(harness.platform.make_error(500, "very\n" * 10_000))
    assert len(str(harness.error())) < 600


# The token.


@pytest.mark.parametrize("token", [None, "", " \n", "two words", "päss", "a/../b", "x" * 501])
def test_an_invalid_token_is_not_sent(harness: PlatformHarness, token: str | None) -> None:
    name = harness.platform.name
    tokens = DictKeys() if token is None else DictKeys({name: token})
    error = harness.error(harness.channel_with(tokens))
    assert isinstance(error, ChannelUnauthorizedError)
    assert str(error) == f"{name} cannot be used: there is no valid bot token in the secret"
    assert harness.receiver.requests == []


@pytest.mark.parametrize(
    ("platform", "response"),
    [(platform, response) for platform in PLATFORMS for response in platform.token_refused],
    ids=str,
)
def test_a_refused_token_is_not_the_recipients_fault(
    harness: PlatformHarness, response: PlatformResponse
) -> None:
    harness.queue_responses(response)
    error = harness.error()
    assert isinstance(error, ChannelUnauthorizedError)
    assert (error.channel, error.status) == (harness.platform.name, response.status)
    assert response.error_text in str(error)
    assert (effect_of(error), origin_of(error)) == (Effect.NONE, Origin.NOT_ATTEMPTED)


def test_a_refused_token_is_not_sent_again_at_once(harness: PlatformHarness) -> None:
    harness.queue_responses(harness.platform.token_refused[0])
    harness.error()
    assert isinstance(harness.error(), ChannelUnauthorizedError)
    assert len(harness.receiver.requests) == 1
    harness.clock.at += REFUSAL_MEMORY
    harness.error()
    assert len(harness.receiver.requests) == 2


def test_a_new_token_is_used_at_once(harness: PlatformHarness) -> None:
    name, tokens = harness.platform.name, RotatedToken()
    harness.channel = harness.channel_with(tokens)
    harness.queue_responses(harness.platform.token_refused[0])
    harness.queue_success()
    harness.error()
    assert tokens.refresh_count == 1
    tokens[name] = "1:new"
    harness.send()
    assert len(harness.receiver.requests) == 2


def test_a_secret_that_cannot_be_read_is_no_valid_token(harness: PlatformHarness) -> None:
    error = harness.error(harness.channel_with(UnreadableKeys()))
    assert isinstance(error, ChannelUnauthorizedError)
    assert str(error).endswith("the secret of the chat tokens cannot be read: AccessDenied")


class UnreadableKeys(DictKeys):
    def get(self, *_: object) -> NoReturn:
        raise SecretUnreadableError("chat tokens", "cannot be read: AccessDenied")


class RotatedToken(DictKeys):
    refresh_count = 0

    def __init__(self) -> None:
        super().__init__(TOKENS)

    def refresh(self) -> None:
        self.refresh_count += 1


def test_a_pasted_token_may_end_with_a_line_break(harness: PlatformHarness) -> None:
    harness.queue_success()
    harness.send()
    harness.channel = harness.channel_with(DictKeys({harness.platform.name: f"{TOKEN}\n"}))
    harness.send()
    first, second = (
        (request.path, request.headers.get("authorization"))
        for request in harness.receiver.requests
    )
    assert first == second


@pytest.mark.parametrize(
    ("platform", "status"),
    [(platform, status) for platform in PLATFORMS for status in platform.error_statuses],
    ids=str,
)
def test_a_token_quoted_by_an_error_is_redacted(harness: PlatformHarness, status: int) -> None:
    harness.queue_responses(harness.platform.make_error(status, f"{status} at /bot{TOKEN}/x"))
    error = harness.error()
    assert TOKEN not in exposed_text(error)
    assert "[redacted]" in str(error)


def test_a_token_quoted_with_escapes_is_redacted(harness: PlatformHarness) -> None:
    response = harness.platform.make_error(400, TOKEN)
    body = json.dumps(response.body).replace(TOKEN[-4:], _escaped(TOKEN[-4:]))
    assert TOKEN not in body
    harness.receiver.answer(response.status, body.encode())
    assert TOKEN not in exposed_text(harness.error())


def _escaped(text: str) -> str:
    return "".join(f"\\u{ord(character):04x}" for character in text)


def test_a_token_quoted_by_a_rate_limit_is_redacted(harness: PlatformHarness) -> None:
    harness.queue_responses(harness.platform.make_error(429, f"slow down, {TOKEN}"))
    error = harness.error()
    assert isinstance(error, RateLimitedError)
    assert TOKEN not in exposed_text(error)
    assert "[redacted]" in str(error)


@pytest.mark.parametrize("misbehaviour", ["drop", "cut_short", "redirect", "garbage"])
def test_no_connection_error_contains_the_token(
    harness: PlatformHarness, misbehaviour: str
) -> None:
    match misbehaviour:
        case "drop":
            harness.receiver.drop_connection()
        case "cut_short":
            harness.receiver.truncate_body()
        case "redirect":
            harness.receiver.redirect(f"http://127.0.0.1/bot{TOKEN}")
        case _:
            harness.receiver.send_raw(b"garbage\r\n\r\n")
    assert TOKEN not in exposed_text(harness.error())
    assert len(harness.receiver.requests) == 1


def test_the_error_for_an_unknown_host_does_not_contain_the_token(harness: PlatformHarness) -> None:
    error = harness.error(harness.channel_with(TOKENS, endpoint="http://127.0.0.1:1"))
    assert isinstance(error, NotSentError)
    assert TOKEN not in exposed_text(error)
