"""The chat queue: messages of one sender stay in order, and duplicates are dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import boto3
import pytest
from duecourse.adapters.aws.sqs import SqsChatQueue, SqsSourceQueues, message_from_body
from duecourse.domain.chat.message import Message
from duecourse.domain.dispatch.dead_letter import DeadLetter, Queue

from local.runtime.template import Resolver
from tests.support.builders.chat import a_message
from tests.support.builders.moments import NOW

if TYPE_CHECKING:
    from types_boto3_sqs.client import SQSClient


@pytest.fixture
def client(aws: Resolver) -> SQSClient:  # noqa: ARG001 - its region
    client: SQSClient = boto3.client("sqs")
    return client


@pytest.fixture
def url(client: SQSClient, aws: Resolver, request: pytest.FixtureRequest) -> Any:
    """Create a queue of this test, of the same type as the template's."""
    attributes = client.get_queue_attributes(
        QueueUrl=aws.resolve({"Ref": "ChatQueue"}), AttributeNames=["All"]
    )["Attributes"]
    assert attributes["FifoQueue"] == "true"
    queue_url = client.create_queue(
        QueueName=f"{abs(hash(request.node.name))}.fifo", Attributes={"FifoQueue": "true"}
    )["QueueUrl"]
    yield queue_url
    client.delete_queue(QueueUrl=queue_url)


def receive(client: SQSClient, url: str) -> list[Message]:
    reply = client.receive_message(QueueUrl=url, MaxNumberOfMessages=10)
    return [message_from_body(message["Body"]) for message in reply.get("Messages", [])]


def test_messages_of_one_sender_keep_their_order(client: SQSClient, url: str) -> None:
    queue = SqsChatQueue(client, url)
    messages = [a_message(f"/task {n}", dedup_key=str(n)) for n in range(5)]
    for message in messages:
        queue.send(message)

    assert receive(client, url) == messages


def test_a_message_with_a_known_dedup_key_is_dropped(client: SQSClient, url: str) -> None:
    queue = SqsChatQueue(client, url)
    for text in ("/tasks", "/tasks ", "/help"):
        queue.send(a_message(text, dedup_key="C1:1"))
    queue.send(a_message("/tasks", dedup_key="C1:2"))

    assert [message.text for message in receive(client, url)] == ["/tasks", "/tasks"]


def test_a_message_in_flight_holds_back_the_next_of_its_sender(client: SQSClient, url: str) -> None:
    queue = SqsChatQueue(client, url)
    queue.send(a_message(dedup_key="1"))
    assert len(receive(client, url)) == 1
    queue.send(a_message(dedup_key="2"))
    queue.send(a_message(dedup_key="3", sender_id="bob"))

    assert [message.dedup_key for message in receive(client, url)] == ["3"]


@pytest.mark.parametrize("name", ["ä" * 200, "a b\n", "x" * 256])
def test_sender_and_dedup_key_can_be_any_text(client: SQSClient, url: str, name: str) -> None:
    message = a_message("\x00😀\ufffe", sender_id=name, dedup_key=name)
    SqsChatQueue(client, url).send(message)

    assert receive(client, url) == [message]


def test_a_dead_chat_message_can_be_redriven(client: SQSClient, url: str) -> None:
    queue = SqsChatQueue(client, url)
    queue.send(a_message())
    body = client.receive_message(QueueUrl=url)["Messages"][0]["Body"]
    letter = DeadLetter(id="letter-1", queue=Queue.CHAT, body=body, sent_at=NOW)
    SqsSourceQueues(client, {Queue.CHAT: url}).redrive(letter)

    assert receive(client, url) == [a_message()]


@pytest.mark.parametrize("body", ["", "{", "[]", "{}", "[" * 100_000, '{"at": "9e999"}'])
def test_an_invalid_message_body_is_refused(body: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - by the reader of JSON, or by us
        message_from_body(body)
