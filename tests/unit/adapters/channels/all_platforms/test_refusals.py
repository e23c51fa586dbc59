"""What every channel makes of a no: whose fault it is, whether to try again, and never a token."""

from __future__ import annotations

import json

import pytest
from duecourse.adapters.channels.errors import ChatError, RateLimitedError, UnreadableResponseError
from duecourse.domain.errors import NotConfiguredError, RecipientGoneError
from duecourse.domain.http.exchange import NoResponseError, NotSentError
from duecourse.domain.origin import Effect
from duecourse.domain.tasks.status import Status

from tests.support.chat_cases import MINUTE, TOKEN, TOKENS, decision_after, exposed_text
from tests.support.provider_cases import DictKeys
from tests.unit.adapters.channels.all_platforms.line import Line
from tests.unit.adapters.channels.all_platforms.platforms import PLATFORMS, Said


@pytest.mark.parametrize(
    ("platform", "said"), [(one, said) for one in PLATFORMS for said in one.gone], ids=str
)
def test_somebody_who_cannot_be_reached_is_not_tried_again(line: Line, said: Said) -> None:
    line.will_say(said)
    error = line.error()
    assert isinstance(error, RecipientGoneError)
    assert (error.type, error.code) == ("RecipientGone", "recipient_gone")
    assert error.status == said.status
    assert str(error) == f"{line.platform.name} cannot reach the recipient: {said.words}"
    decision = decision_after(error)
    assert (decision.status, decision.category.name) == (Status.FAILED, "recipient_gone")
    assert len(line.receiver.requests) == 1


@pytest.mark.parametrize(
    ("platform", "said", "code"), [(one, *ours) for one in PLATFORMS for ours in one.ours], ids=str
)
def test_what_is_not_about_the_recipient_is_tried_again(
    line: Line, said: Said, code: str | None
) -> None:
    line.will_say(said)
    error = line.error()
    assert isinstance(error, ChatError)
    assert (error.status, error.code, error.retry_after) == (said.status, code, None)
    assert str(error).startswith(f"{line.platform.name} answered {said.status}: {said.words}")
    assert (decision_after(error).status, decision_after(error).delay) == (
        Status.PENDING,
        2 * MINUTE,
    )
    assert len(line.receiver.requests) == 1


@pytest.mark.parametrize(
    "body", [b"", b"ok", b"<html>hello</html>", b"[1]", b'"ok"', b"{", b"\xff"]
)
def test_a_yes_that_cannot_be_read_may_have_arrived(line: Line, body: bytes) -> None:
    line.receiver.answer(200, body)
    error = line.error()
    assert isinstance(error, UnreadableResponseError)
    assert (error.code, error.effect) == ("bad_answer", Effect.UNKNOWN)
    assert len(line.receiver.requests) == 1


@pytest.mark.parametrize("body", [b"", b"<html>busy</html>", b"\xff\xfe", b"[" * 100_000])
def test_an_error_that_cannot_be_read_is_one_by_its_status(line: Line, body: bytes) -> None:
    line.receiver.answer(503, body)
    error = line.error()
    assert isinstance(error, ChatError)
    assert (error.status, error.effect) == (503, Effect.NONE)
    assert str(error) == f"{line.platform.name} answered 503: no words"


def test_silence_is_raised_as_it_is(line: Line) -> None:
    line.receiver.drop_connection()
    assert isinstance(line.error(), NoResponseError)


def test_long_words_are_cut(line: Line) -> None:
    line.will_say(line.platform.no(500, "very\n" * 10_000))
    assert len(str(line.error())) < 600


# The token.


@pytest.mark.parametrize("token", [None, "", " \n", "two words", "päss", "a/../b", "x" * 501])
def test_a_token_that_is_none_is_not_sent(line: Line, token: str | None) -> None:
    name = line.platform.name
    tokens = DictKeys() if token is None else DictKeys({name: token})
    error = line.error(line.channel_with(tokens))
    assert isinstance(error, NotConfiguredError)
    assert str(error) == f"the token of {name} is not configured in this deployment"
    assert line.receiver.requests == []


def test_a_pasted_token_may_end_with_a_line_break(line: Line) -> None:
    line.will_agree()
    line.send()
    line.channel = line.channel_with(DictKeys({line.platform.name: f"{TOKEN}\n"}))
    line.send()
    first, second = ((one.path, one.headers.get("authorization")) for one in line.receiver.requests)
    assert first == second


@pytest.mark.parametrize(
    ("platform", "status"), [(one, no) for one in PLATFORMS for no in one.statuses_of_a_no], ids=str
)
def test_an_error_that_quotes_the_token_is_told_without_it(line: Line, status: int) -> None:
    line.will_say(line.platform.no(status, f"{status} at /bot{TOKEN}/x"))
    error = line.error()
    assert TOKEN not in exposed_text(error)
    assert "[redacted]" in str(error)


def test_a_token_quoted_with_escapes_is_not_told_either(line: Line) -> None:
    quoted = line.platform.no(400, TOKEN)
    body = json.dumps(quoted.body).replace(TOKEN[-4:], _escaped(TOKEN[-4:]))
    assert TOKEN not in body
    line.receiver.answer(quoted.status, body.encode())
    assert TOKEN not in exposed_text(line.error())


def _escaped(text: str) -> str:
    return "".join(f"\\u{ord(character):04x}" for character in text)


def test_a_flood_that_quotes_the_token_is_told_without_it(line: Line) -> None:
    line.will_say(line.platform.no(429, f"slow down, {TOKEN}"))
    error = line.error()
    assert isinstance(error, RateLimitedError)
    assert TOKEN not in exposed_text(error)
    assert "[redacted]" in str(error)


@pytest.mark.parametrize("misbehaviour", ["drop", "cut_short", "redirect", "garbage"])
def test_no_error_on_the_way_holds_the_token(line: Line, misbehaviour: str) -> None:
    match misbehaviour:
        case "drop":
            line.receiver.drop_connection()
        case "cut_short":
            line.receiver.truncate_body()
        case "redirect":
            line.receiver.redirect(f"http://127.0.0.1/bot{TOKEN}")
        case _:
            line.receiver.send_raw(b"garbage\r\n\r\n")
    assert TOKEN not in exposed_text(line.error())
    assert len(line.receiver.requests) == 1


def test_a_host_that_is_not_there_is_told_without_the_token(line: Line) -> None:
    error = line.error(line.channel_with(TOKENS, endpoint="http://127.0.0.1:1"))
    assert isinstance(error, NotSentError)
    assert TOKEN not in exposed_text(error)
