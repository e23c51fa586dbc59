"""The channel `email` publishes to the stack's topic, once, and says what a failure means."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs

import pytest
from duecourse.adapters.aws.sns import SnsTopic
from duecourse.adapters.channels.email.outbound import EmailChannel
from duecourse.adapters.channels.errors import ChatError, RateLimitedError
from duecourse.domain.chat.chat_message import Button, ChatMessage
from duecourse.domain.errors import RecipientGoneError
from duecourse.domain.http.exchange import NoResponseError, NotSentError
from duecourse.domain.origin import Effect

from tests.support.receiver import Receiver

TOPIC = "arn:aws:sns:eu-west-1:123456789012:reminders"
PUBLISHED = (
    b"<PublishResponse><PublishResult><MessageId>1</MessageId></PublishResult></PublishResponse>"
)
MESSAGE = ChatMessage("Reminder: call the bank\nbefore noon", (Button("Done", "/done 1"),))


@pytest.fixture
def sns(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with Receiver() as receiver:
        monkeypatch.setenv("AWS_ENDPOINT_URL_SNS", receiver.url(""))
        yield receiver


def send(target: str = "subscribers", message: ChatMessage = MESSAGE) -> None:
    channel = EmailChannel(SnsTopic(TOPIC, channel="email"))
    channel.send(target, message, idempotency_key="k")


def send_error() -> Any:
    with pytest.raises(Exception, match="email") as raised:
        send()
    return raised.value


def answer_error(sns: Receiver, status: int, code: str) -> None:
    error = f"<Error><Code>{code}</Code><Message>said so</Message></Error>"
    sns.answer(status, f"<ErrorResponse>{error}</ErrorResponse>".encode())


def test_the_text_is_published_with_its_first_line_as_subject(sns: Receiver) -> None:
    sns.answer(200, PUBLISHED)

    send()

    [request] = sns.requests
    fields = {name: value[0] for name, value in parse_qs(request.body.decode()).items()}
    assert fields["Action"] == "Publish"
    assert fields["TopicArn"] == TOPIC
    assert fields["Subject"] == "Reminder: call the bank"
    assert fields["Message"] == MESSAGE.text


@pytest.mark.parametrize("target", ["ada", "ada@example.com", ""])
def test_a_message_for_one_person_is_not_sent_to_all(sns: Receiver, target: str) -> None:
    with pytest.raises(RecipientGoneError):
        send(target)

    assert sns.requests == []


def test_a_long_text_is_cut(sns: Receiver) -> None:
    sns.answer(200, PUBLISHED)

    send(message=ChatMessage("x" * 100_000))

    [published] = parse_qs(sns.requests[0].body.decode())["Message"]
    assert "more characters" in published


def test_a_refusal_had_no_effect_and_is_not_repeated(sns: Receiver) -> None:
    answer_error(sns, 403, "AuthorizationError")

    error = send_error()

    assert isinstance(error, ChatError)
    assert (error.status, error.code, error.effect) == (403, "AuthorizationError", Effect.NONE)
    assert len(sns.requests) == 1


def test_throttling_is_a_rate_limit(sns: Receiver) -> None:
    answer_error(sns, 400, "Throttling")

    assert isinstance(send_error(), RateLimitedError)


def test_a_server_error_may_have_sent_it(sns: Receiver) -> None:
    answer_error(sns, 500, "InternalError")

    assert send_error().effect is Effect.UNKNOWN


def test_a_lost_answer_may_have_sent_it(sns: Receiver) -> None:
    sns.drop_connection()

    error = send_error()

    assert isinstance(error, NoResponseError)
    assert error.effect is Effect.UNKNOWN


def test_a_refused_connection_sent_nothing(monkeypatch: pytest.MonkeyPatch, sns: Receiver) -> None:
    del sns
    monkeypatch.setenv("AWS_ENDPOINT_URL_SNS", "http://127.0.0.1:9")

    assert isinstance(send_error(), NotSentError)
