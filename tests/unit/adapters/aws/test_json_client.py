"""The cheaper calls send what botocore's own calls send, and return and raise the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import botocore.endpoint
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError, HTTPClientError, NoCredentialsError
from botocore.session import Session
from duecourse.adapters.aws.clients import SharedSession
from duecourse.adapters.aws.json_client import OPERATIONS, JsonClient

from tests.support.receiver import ReceivedRequest, Receiver

KEY = {"id": {"S": "a"}}
ITEM = {"id": {"S": "ä"}, "data": {"B": b"\x00\xff"}, "texts": {"L": [{"S": "x"}, {"NULL": True}]}}
QUEUE = {"QueueUrl": "https://sqs.test/1/queue"}
EVENT = {
    "Source": "s",
    "DetailType": "d",
    "Detail": "{}",
    "Time": datetime(2026, 2, 17, 12, 0, 0, 999_000, tzinfo=UTC),
    "Resources": [],
}
EXAMPLES: dict[tuple[str, str], tuple[dict[str, Any], Any]] = {
    ("dynamodb", "GetItem"): ({"TableName": "t", "Key": KEY}, {"Item": {"id": {"S": "ü"}}}),
    ("dynamodb", "PutItem"): ({"TableName": "t", "Item": ITEM}, {}),
    ("dynamodb", "DeleteItem"): ({"TableName": "t", "Key": KEY}, {}),
    ("dynamodb", "UpdateItem"): (
        {
            "TableName": "t",
            "Key": KEY,
            "UpdateExpression": "SET a = :a",
            "ExpressionAttributeValues": {":a": {"N": "1"}, ":b": {"BS": [b"\x01"]}},
        },
        {"Attributes": {"data": {"B": "AP8="}, "more": {"BS": ["AQ=="]}, "n": {"N": "1"}}},
    ),
    ("dynamodb", "Query"): (
        {"TableName": "t", "KeyConditionExpression": "id = :i", "Limit": 2, "Select": "COUNT"},
        {"Items": [{"id": {"S": "a"}, "is": {"BOOL": True}}], "Count": 1, "ScannedCount": 1},
    ),
    ("dynamodb", "BatchGetItem"): (
        {"RequestItems": {"t": {"Keys": [KEY], "ConsistentRead": True}}},
        {"Responses": {"t": [{"id": {"S": "a"}}]}, "UnprocessedKeys": {}},
    ),
    ("dynamodb", "BatchWriteItem"): (
        {"RequestItems": {"t": [{"PutRequest": {"Item": ITEM}}]}},
        {"UnprocessedItems": {"t": [{"PutRequest": {"Item": {"data": {"B": "AP8="}}}}]}},
    ),
    ("events", "ListRules"): (
        {"EventBusName": "b"},
        {"Rules": [{"Name": "n", "State": "ENABLED", "EventPattern": "{}"}]},
    ),
    ("events", "PutEvents"): ({"Entries": [EVENT]}, {"FailedEntryCount": 0, "Entries": [{}]}),
    ("sqs", "SendMessage"): ({**QUEUE, "MessageBody": "m\n☃"}, {"MessageId": "1"}),
    ("sqs", "SendMessageBatch"): (
        {**QUEUE, "Entries": [{"Id": "0", "MessageBody": "m", "DelaySeconds": 3}]},
        {"Successful": [{"Id": "0", "MessageId": "1"}]},
    ),
    ("sqs", "ChangeMessageVisibility"): (
        {**QUEUE, "ReceiptHandle": "r", "VisibilityTimeout": 5},
        None,
    ),
}
CONDITION_FAILED = {
    "__type": "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",
    "message": "The conditional request failed",
    "Item": {"data": {"B": "AP8="}},
}
CONFIG = Config(retries={"total_max_attempts": 3, "mode": "standard"}, read_timeout=3)


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "token")
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", "worker")
    monkeypatch.setenv("_X_AMZN_TRACE_ID", "Root=1-2-3;Lineage=é")
    monkeypatch.setattr(botocore.endpoint, "time", SimpleNamespace(sleep=lambda _: None))


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as found:
        yield found


def both_clients(service: str, receiver: Receiver) -> tuple[Any, Any]:
    """Return our client and botocore's."""
    url = receiver.url("")
    ours = SharedSession().create_client(service, config=CONFIG, endpoint_url=url)
    assert isinstance(ours, JsonClient)
    return ours, Session().create_client(service, config=CONFIG, endpoint_url=url)


def call(client: Any, operation: str) -> Any:
    """Make the example's call; return its result, or what an error tells.

    Without what differs from request to request.
    """
    arguments, _ = EXAMPLES[client.meta.service_model.service_name, operation]
    method = {name: method for method, name in client.meta.method_to_api_mapping.items()}[operation]
    try:
        result = getattr(client, method)(**arguments)
    except ClientError as error:
        response: Any = error.response
        return type(error).__name__, str(error), without_headers(response)
    except HTTPClientError as error:
        return type(error)
    return without_headers(result)


def without_headers(result: dict[str, Any]) -> dict[str, Any]:
    metadata = dict(result.get("ResponseMetadata", {}))
    metadata.pop("HTTPHeaders", None)
    return {**result, "ResponseMetadata": metadata}


def comparable_fields(request: ReceivedRequest) -> Any:
    """Return all of a request but signature, connection and botocore's counts of retries."""
    ignored = {"authorization", "x-amz-date", "content-length", "accept-encoding"}
    ignored |= {"amz-sdk-invocation-id", "amz-sdk-request", "user-agent"}
    headers = {name: text for name, text in request.headers.items() if name not in ignored}
    return request.method, request.path, headers, request.json


def test_every_operation_has_an_example() -> None:
    assert set(EXAMPLES) == {
        (service, name) for service in OPERATIONS for name in OPERATIONS[service]
    }


@pytest.mark.parametrize(("service", "operation"), EXAMPLES)
def test_a_call_sends_and_returns_what_botocore_does(
    receiver: Receiver, service: str, operation: str
) -> None:
    _, reply = EXAMPLES[service, operation]
    body = b"" if reply is None else json.dumps(reply).encode()
    receiver.answer(200, body, headers={"x-amzn-RequestId": "7"})
    ours, botocores = both_clients(service, receiver)

    first, second = call(ours, operation), call(ours, operation)
    expected = call(botocores, operation)

    assert first == second
    assert first == expected
    requests = [comparable_fields(request) for request in receiver.requests]
    assert requests == [requests[-1]] * 3
    assert "Lineage=%C3%A9" in receiver.requests[0].headers["x-amzn-trace-id"]
    assert receiver.requests[0].headers["user-agent"].startswith("Botocore/")


@pytest.mark.parametrize(("service", "operation"), EXAMPLES)
def test_nothing_in_the_model_needs_a_conversion(service: str, operation: str) -> None:
    """Otherwise botocore would change what is sent or returned."""
    client = Session().create_client(service)
    model = client.meta.service_model.operation_model(operation)

    assert not any([model.has_streaming_input, model.has_streaming_output, model.endpoint])
    assert not any([model.idempotent_members, model.http_checksum, model.http_checksum_required])
    assert model.http == {"method": "POST", "requestUri": "/"}
    sent = converted_members(model.input_shape, set())
    assert {member for member in sent if member[0] != "blob"} <= {("timestamp", "Time")}
    if model.output_shape is not None:
        returned = set(converted_members(model.output_shape, set()))
        assert returned <= {("blob", "B"), ("blob", "BS")}


def converted_members(shape: Any, visited: set[str], name: str = "") -> Iterator[tuple[str, str]]:
    if shape.type_name in ("blob", "timestamp"):
        yield shape.type_name, name
    if shape.name in visited:
        return
    visited.add(shape.name)
    for member, inner in getattr(shape, "members", {}).items():
        assert inner.serialization.get("name", member) == member
        yield from converted_members(inner, visited, member)
    for inner in (getattr(shape, "member", None), getattr(shape, "value", None)):
        if inner is not None:
            yield from converted_members(inner, visited, name)


@pytest.mark.parametrize(
    ("status", "body", "headers", "requests"),
    [
        (400, CONDITION_FAILED, {}, 1),
        (400, {"__type": "x#ThrottlingException", "message": "slow"}, {}, 3),
        (500, {"__type": "x#InternalServerError", "message": "no"}, {}, 3),
        (503, {}, {}, 3),
        (413, {"__type": "x#New", "message": "too large"}, {"x-amzn-query-error": "Q;Sender"}, 1),
    ],
)
def test_an_error_is_retried_and_raised_as_botocore_does(
    receiver: Receiver, status: int, body: Any, headers: dict[str, str], requests: int
) -> None:
    receiver.answer(status, json.dumps(body).encode(), headers=headers)
    for service, operation in (("dynamodb", "PutItem"), ("sqs", "SendMessage")):
        ours, botocores = both_clients(service, receiver)
        receiver.requests.clear()

        raised = call(ours, operation)
        sent = len(receiver.requests)

        assert raised == call(botocores, operation)
        assert sent == len(receiver.requests) - sent == requests


def test_a_lost_connection_is_retried(receiver: Receiver) -> None:
    receiver.drop_connection()
    receiver.answer(200, b"{}")
    ours, _ = both_clients("dynamodb", receiver)

    result = ours.put_item(TableName="t", Item=ITEM)

    assert result["ResponseMetadata"]["RetryAttempts"] == 1
    assert len(receiver.requests) == 2


def test_a_connection_that_stays_lost_is_raised_as_botocore_does(receiver: Receiver) -> None:
    receiver.drop_connection()
    ours, botocores = both_clients("dynamodb", receiver)

    raised = call(ours, "PutItem")

    assert raised == call(botocores, "PutItem")
    assert len(receiver.requests) == 6


def test_successful_calls_restore_the_quota_of_retries(receiver: Receiver) -> None:
    counts = []
    for client in both_clients("dynamodb", receiver):
        receiver.answer(500)
        for _ in range(60):
            call(client, "PutItem")
        counts.append(count_requests(client, receiver))
        receiver.answer(200, b"{}")
        for _ in range(20):
            call(client, "PutItem")
        receiver.answer(500)
        client.put_item(TableName="t", Item=ITEM)
        counts.append(count_requests(client, receiver))

    assert counts == [1, 3, 1, 3]


def count_requests(client: Any, receiver: Receiver) -> int:
    receiver.requests.clear()
    call(client, "PutItem")
    return len(receiver.requests)


def test_credentials_are_read_for_each_call(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    receiver.answer(200, b"{}")
    ours, _ = both_clients("dynamodb", receiver)
    ours.put_item(TableName="t", Item=ITEM)
    monkeypatch.setattr(ours._request_signer._credentials, "access_key", "rotated")
    ours.put_item(TableName="t", Item=ITEM)

    signatures = [request.headers["authorization"] for request in receiver.requests]
    assert ["Credential=rotated/" in text for text in signatures] == [False, True]


def test_without_credentials_it_raises_as_botocore_does(receiver: Receiver) -> None:
    ours, _ = both_clients("dynamodb", receiver)
    ours._request_signer._credentials = None

    with pytest.raises(NoCredentialsError):
        ours.put_item(TableName="t", Item=ITEM)


def test_another_operation_takes_the_usual_way(receiver: Receiver) -> None:
    receiver.answer(200, b'{"TableNames": ["t"]}')
    ours, _ = both_clients("dynamodb", receiver)

    assert ours.list_tables()["TableNames"] == ["t"]
    assert "amz-sdk-request" in receiver.requests[0].headers


def test_an_unsupported_value_is_not_sent(receiver: Receiver) -> None:
    ours, _ = both_clients("dynamodb", receiver)
    ours.put_item(TableName="t", Item=ITEM)

    with pytest.raises(TypeError, match="set is not supported"):
        ours.put_item(TableName="t", Item={"id": {"SS": {"a"}}})

    assert len(receiver.requests) == 1


def test_an_endpoint_with_a_path_is_used_as_it_is(receiver: Receiver) -> None:
    """Only requests to the root of a host are made here."""
    url = f"{receiver.url('')}/prefix"
    ours = SharedSession().create_client("dynamodb", config=CONFIG, endpoint_url=url)

    for _ in range(3):
        ours.put_item(TableName="t", Item=ITEM)

    assert {request.path for request in receiver.requests} == {"/prefix"}
