"""Sending to WebSocket connections through API Gateway, replaced by a loopback server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError
from duecourse.adapters.aws.websocket_sender import ApiGatewaySender
from duecourse.domain.errors import ConnectionGoneError

from tests.support.receiver import Receiver

CONNECTION_ID = "L0SM9cOFvHcCIhw="
CONNECTION_PATH = "/live/@connections/L0SM9cOFvHcCIhw%3D"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as started:
        yield started


@pytest.fixture
def sender(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> ApiGatewaySender:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    return ApiGatewaySender(receiver.url("/live"))


def test_a_message_is_posted_to_its_connection(
    sender: ApiGatewaySender, receiver: Receiver
) -> None:
    sender.send(CONNECTION_ID, '{"type":"task:failed"}')
    [request] = receiver.requests
    assert (request.method, request.path) == ("POST", CONNECTION_PATH)
    assert request.json == {"type": "task:failed"}


def test_a_connection_is_closed(sender: ApiGatewaySender, receiver: Receiver) -> None:
    sender.close(CONNECTION_ID)
    [request] = receiver.requests
    assert (request.method, request.path) == ("DELETE", CONNECTION_PATH)


def test_a_closed_connection_raises(sender: ApiGatewaySender, receiver: Receiver) -> None:
    receiver.answer(410, b"{}", headers={"x-amzn-errortype": "GoneException"})
    with pytest.raises(ConnectionGoneError, match=CONNECTION_ID):
        sender.send(CONNECTION_ID, "{}")
    with pytest.raises(ConnectionGoneError, match=CONNECTION_ID):
        sender.close(CONNECTION_ID)


@pytest.mark.parametrize(
    ("status", "name"), [(429, "LimitExceededException"), (403, "ForbiddenException"), (500, "x")]
)
def test_other_errors_are_raised_without_a_retry(
    sender: ApiGatewaySender, receiver: Receiver, status: int, name: str
) -> None:
    receiver.answer(status, b"{}", headers={"x-amzn-errortype": name})
    with pytest.raises(ClientError, match=name):
        sender.send(CONNECTION_ID, "{}")
    assert len(receiver.requests) == 1


def test_a_dropped_connection_is_not_retried(sender: ApiGatewaySender, receiver: Receiver) -> None:
    receiver.drop_connection()
    with pytest.raises(ConnectionClosedError):
        sender.send(CONNECTION_ID, "{}")
    assert len(receiver.requests) == 1
