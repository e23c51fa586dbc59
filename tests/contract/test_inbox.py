"""The queue that keeps what people said until it is answered."""

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
    made: SQSClient = boto3.client("sqs")
    return made


@pytest.fixture
def url(client: SQSClient, aws: Resolver, request: pytest.FixtureRequest) -> Any:
    """As the template has it, but the test's own."""
    there = client.get_queue_attributes(
        QueueUrl=aws.resolve({"Ref": "ChatQueue"}), AttributeNames=["All"]
    )["Attributes"]
    assert there["FifoQueue"] == "true"
    made = client.create_queue(
        QueueName=f"{abs(hash(request.node.name))}.fifo", Attributes={"FifoQueue": "true"}
    )["QueueUrl"]
    yield made
    client.delete_queue(QueueUrl=made)


def received(client: SQSClient, url: str) -> list[Message]:
    reply = client.receive_message(QueueUrl=url, MaxNumberOfMessages=10)
    return [message_from_body(message["Body"]) for message in reply.get("Messages", [])]


def test_what_one_person_said_keeps_its_order(client: SQSClient, url: str) -> None:
    inbox = SqsChatQueue(client, url)
    said = [a_message(f"/task {n}", dedup_key=str(n)) for n in range(5)]
    for message in said:
        inbox.send(message)

    assert received(client, url) == said


def test_a_repeat_is_dropped_whatever_else_it_says(client: SQSClient, url: str) -> None:
    inbox = SqsChatQueue(client, url)
    for text in ("/tasks", "/tasks ", "/help"):
        inbox.send(a_message(text, dedup_key="C1:1"))
    inbox.send(a_message("/tasks", dedup_key="C1:2"))

    assert [message.text for message in received(client, url)] == ["/tasks", "/tasks"]


def test_while_one_message_is_worked_on_the_next_of_its_sender_waits(
    client: SQSClient, url: str
) -> None:
    inbox = SqsChatQueue(client, url)
    inbox.send(a_message(dedup_key="1"))
    assert len(received(client, url)) == 1
    inbox.send(a_message(dedup_key="2"))
    inbox.send(a_message(dedup_key="3", sender_id="bob"))

    assert [message.dedup_key for message in received(client, url)] == ["3"]


@pytest.mark.parametrize("name", ["ä" * 200, "a b\n", "x" * 256])
def test_a_sender_and_a_key_may_be_called_anything(client: SQSClient, url: str, name: str) -> None:
    message = a_message("\x00😀\ufffe", sender_id=name, dedup_key=name)
    SqsChatQueue(client, url).send(message)

    assert received(client, url) == [message]


def test_a_dead_message_can_be_sent_back(client: SQSClient, url: str) -> None:
    inbox = SqsChatQueue(client, url)
    inbox.send(a_message())
    body = client.receive_message(QueueUrl=url)["Messages"][0]["Body"]
    letter = DeadLetter(id="letter-1", queue=Queue.CHAT, body=body, sent_at=NOW)
    SqsSourceQueues(client, {Queue.CHAT: url}).redrive(letter)

    assert received(client, url) == [a_message()]


@pytest.mark.parametrize("body", ["", "{", "[]", "{}", "[" * 100_000, '{"at": "9e999"}'])
def test_a_body_that_is_no_message_is_refused(body: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - by the reader of JSON, or by us
        message_from_body(body)
