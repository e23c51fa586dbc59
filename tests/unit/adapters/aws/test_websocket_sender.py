"""Pushing through API Gateway, played by a server on the loopback."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError
from duecourse.adapters.aws.websocket_sender import ApiGatewaySender
from duecourse.domain.errors import ConnectionGoneError

from tests.support.receiver import Receiver

ID = "L0SM9cOFvHcCIhw="
PLACE = "/live/@connections/L0SM9cOFvHcCIhw%3D"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as running:
        yield running


@pytest.fixture
def pusher(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> ApiGatewaySender:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    return ApiGatewaySender(receiver.url("/live"))


def test_a_message_is_posted_to_its_connection(
    pusher: ApiGatewaySender, receiver: Receiver
) -> None:
    pusher.send(ID, '{"type":"task:failed"}')
    [request] = receiver.requests
    assert (request.method, request.path) == ("POST", PLACE)
    assert request.json == {"type": "task:failed"}


def test_a_connection_is_closed(pusher: ApiGatewaySender, receiver: Receiver) -> None:
    pusher.close(ID)
    [request] = receiver.requests
    assert (request.method, request.path) == ("DELETE", PLACE)


def test_where_nobody_is_any_more_it_is_said(pusher: ApiGatewaySender, receiver: Receiver) -> None:
    receiver.answer(410, b"{}", headers={"x-amzn-errortype": "GoneException"})
    with pytest.raises(ConnectionGoneError, match=ID):
        pusher.send(ID, "{}")
    with pytest.raises(ConnectionGoneError, match=ID):
        pusher.close(ID)


@pytest.mark.parametrize(
    ("status", "name"), [(429, "LimitExceededException"), (403, "ForbiddenException"), (500, "x")]
)
def test_any_other_refusal_is_told_as_it_is_and_not_repeated(
    pusher: ApiGatewaySender, receiver: Receiver, status: int, name: str
) -> None:
    receiver.answer(status, b"{}", headers={"x-amzn-errortype": name})
    with pytest.raises(ClientError, match=name):
        pusher.send(ID, "{}")
    assert len(receiver.requests) == 1


def test_no_answer_is_not_asked_for_again(pusher: ApiGatewaySender, receiver: Receiver) -> None:
    receiver.drop_connection()
    with pytest.raises(ConnectionClosedError):
        pusher.send(ID, "{}")
    assert len(receiver.requests) == 1
