"""What moto does for a call does not grow with what its tables and queues hold.

Counted in calls of Python functions, which are the same in each run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import boto3
import pytest

from local.runtime.aws_backend import AwsBackend
from local.runtime.moto_backend import MotoBackend
from local.runtime.template import Resolver

if TYPE_CHECKING:
    from types_boto3_sqs.client import SQSClient

FEW, MANY = 20, 400
ALLOWED_GROWTH = 1.02
SECOND_SHARD = 1


@pytest.fixture(scope="module")
def backend() -> AwsBackend:
    return MotoBackend()


@pytest.fixture
def queue(aws: Resolver) -> Iterator[tuple[SQSClient, str]]:  # noqa: ARG001 - its region
    client: SQSClient = boto3.client("sqs")
    url = client.create_queue(QueueName="cost")["QueueUrl"]
    yield client, url
    client.delete_queue(QueueUrl=url)


def count_calls(work: Callable[[], object]) -> int:
    count = 0

    def profile(_frame: Any, event: str, _arg: Any) -> None:
        nonlocal count
        count += event == "call"

    work()  # whatever is remembered after the first time
    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def test_a_message_costs_the_same_in_a_full_queue(queue: tuple[SQSClient, str]) -> None:
    client, url = queue

    def send_receive_and_delete() -> None:
        client.send_message(QueueUrl=url, MessageBody="one more")
        [message] = client.receive_message(QueueUrl=url)["Messages"]
        client.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])

    costs = []
    for size in (FEW, MANY):
        for _ in range(size):
            client.send_message(QueueUrl=url, MessageBody="one of many")
        costs.append(count_calls(send_receive_and_delete))

    assert costs[1] <= costs[0] * ALLOWED_GROWTH


def test_the_poller_costs_the_same_on_a_full_queue(
    queue: tuple[SQSClient, str], backend: AwsBackend
) -> None:
    client, url = queue

    def poll() -> None:
        backend.release_visible("cost")
        assert backend.next_message_at("cost") is not None

    costs = []
    for size in (FEW, MANY):
        for _ in range(size):
            client.send_message(QueueUrl=url, MessageBody="one of many")
        client.receive_message(QueueUrl=url, MaxNumberOfMessages=10)
        costs.append(count_calls(poll))

    # One step of a generator and one time for each message, but nothing that moto calls.
    assert costs[1] <= costs[0] + 3 * MANY


@pytest.mark.parametrize("index", ["", "DueIndex", "CreatedIndex"])
def test_a_query_costs_the_same_in_a_full_table(aws: Resolver, index: str) -> None:
    table = aws.resolve({"Ref": "TasksTable"})
    client: Any = boto3.client("dynamodb")

    def put(number: int, shard: int) -> None:
        moment = f"2026-02-17T12:00:{number:05}Z"
        key = {"short_id": {"S": f"{shard}-{number}"}, "id": {"S": f"task-{number}"}}
        due = {"due_shard": {"N": str(shard)}, "due_at": {"S": moment}}
        created = {"shard": {"N": str(shard)}, "created_at": {"S": moment}}
        client.put_item(TableName=table, Item=key | due | created)

    def query() -> None:
        name, value = {
            "": ("short_id", {"S": f"{SECOND_SHARD}-3"}),
            "DueIndex": ("due_shard", {"N": str(SECOND_SHARD)}),
            "CreatedIndex": ("shard", {"N": str(SECOND_SHARD)}),
        }[index]
        found = client.query(
            TableName=table,
            KeyConditionExpression="#key = :value",
            ExpressionAttributeNames={"#key": name},
            ExpressionAttributeValues={":value": value},
            **({"IndexName": index} if index else {}),
        )
        assert found["Count"] == (5 if index else 1)

    for number in range(5):
        put(number, SECOND_SHARD)
    costs = []
    for size in (FEW, MANY):
        for number in range(size):
            put(number, 0)
        costs.append(count_calls(query))

    assert costs[1] <= costs[0] * ALLOWED_GROWTH
