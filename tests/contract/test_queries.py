"""Queries, scans, batches and streams of DynamoDB: the lean endpoint answers as moto does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from local.runtime.aws_backend import AwsBackend
from local.runtime.template import Resolver

TABLE = "queries"
BY_OWNER = ("owner", "due")
INDEXES = {"keys": "KEYS_ONLY", "some": "INCLUDE", "all": "ALL"}


def _key_schema(hash_name: str, range_name: str) -> list[dict[str, str]]:
    return [
        {"AttributeName": hash_name, "KeyType": "HASH"},
        {"AttributeName": range_name, "KeyType": "RANGE"},
    ]


def _index(name: str, kind: str) -> dict[str, Any]:
    included = {"NonKeyAttributes": ["colour"]} if kind == "INCLUDE" else {}
    projection = {"ProjectionType": kind, **included}
    return {"IndexName": name, "KeySchema": _key_schema(*BY_OWNER), "Projection": projection}


@pytest.fixture(scope="module")
def dynamodb(aws: Resolver) -> Iterator[Any]:  # noqa: ARG001 - its region
    client = boto3.client("dynamodb")
    types = {"room": "S", "n": "N", "owner": "S", "due": "S"}
    client.create_table(
        TableName=TABLE,
        KeySchema=_key_schema("room", "n"),
        AttributeDefinitions=[
            {"AttributeName": name, "AttributeType": kind} for name, kind in types.items()
        ],
        GlobalSecondaryIndexes=[_index(name, kind) for name, kind in INDEXES.items()],
        BillingMode="PAY_PER_REQUEST",
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    )
    yield client
    client.delete_table(TableName=TABLE)


def item(n: int, **attributes: str) -> dict[str, Any]:
    texts = {"colour": "red", "size": "big", **attributes}
    return {
        "room": {"S": "a"},
        "n": {"N": str(n)},
        **{name: {"S": text} for name, text in texts.items()},
    }


@pytest.fixture(autouse=True)
def _items(dynamodb: Any) -> None:
    """Ten items; the even ones have an owner and so an entry in the indexes."""
    for n in range(10):
        indexed = {} if n % 2 else {"owner": "ada", "due": f"2026-0{9 - n}"}
        dynamodb.put_item(TableName=TABLE, Item=item(n, **indexed))


Query = Callable[..., dict[str, Any]]


@pytest.fixture
def query(dynamodb: Any) -> Query:
    def run(condition: str, **arguments: Any) -> dict[str, Any]:
        values = {":room": {"S": "a"}, ":two": {"N": "2"}, ":five": {"N": "5"}}
        values |= {":ada": {"S": "ada"}, ":year": {"S": "2026-0"}, ":red": {"S": "red"}}
        text = condition + arguments.get("FilterExpression", "")
        used = {name: value for name, value in values.items() if name in text}
        names = {"#owner": "owner"} if "#owner" in text else {}
        expression: dict[str, Any] = {"ExpressionAttributeValues": used}
        if names:
            expression["ExpressionAttributeNames"] = names
        found: dict[str, Any] = dynamodb.query(
            TableName=TABLE, KeyConditionExpression=condition, **expression, **arguments
        )
        return found

    return run


def numbers(response: dict[str, Any]) -> list[int]:
    return [int(one["n"]["N"]) for one in response["Items"]]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("room = :room", list(range(10))),
        ("room = :room AND n = :two", [2]),
        ("room = :room AND n < :two", [0, 1]),
        ("room = :room AND n <= :two", [0, 1, 2]),
        ("room = :room AND n > :five", [6, 7, 8, 9]),
        ("room = :room AND n >= :five", [5, 6, 7, 8, 9]),
        ("room = :room AND n BETWEEN :two AND :five", [2, 3, 4, 5]),
        ("(n BETWEEN :two AND :five) AND room = :room", [2, 3, 4, 5]),
        ("room = :ada", []),
    ],
)
def test_a_query_returns_a_range_in_the_order_of_the_sort_key(
    query: Query, condition: str, expected: list[int]
) -> None:
    assert numbers(query(condition)) == expected
    assert numbers(query(condition, ScanIndexForward=False)) == expected[::-1]


def test_an_index_has_only_items_with_its_keys_in_its_own_order(query: Query) -> None:
    assert numbers(query("#owner = :ada", IndexName="keys")) == [8, 6, 4, 2, 0]
    prefixed = query("#owner = :ada AND begins_with(due, :year)", IndexName="keys")
    assert numbers(prefixed) == [8, 6, 4, 2, 0]


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ("keys", {"room", "n", "owner", "due"}),
        ("some", {"room", "n", "owner", "due", "colour"}),
        ("all", {"room", "n", "owner", "due", "colour", "size"}),
    ],
)
def test_an_index_returns_what_it_projects(query: Query, index: str, expected: set[str]) -> None:
    assert {frozenset(one) for one in query("#owner = :ada", IndexName=index)["Items"]} == {
        frozenset(expected)
    }


def test_a_changed_key_moves_the_entry_of_an_index(dynamodb: Any, query: Query) -> None:
    dynamodb.put_item(TableName=TABLE, Item=item(8, owner="ada", due="2027-01"))
    dynamodb.put_item(TableName=TABLE, Item=item(6, owner="bob", due="2026-01"))
    dynamodb.put_item(TableName=TABLE, Item=item(4))
    dynamodb.delete_item(TableName=TABLE, Key={"room": {"S": "a"}, "n": {"N": "2"}})
    assert numbers(query("#owner = :ada", IndexName="keys")) == [0, 8]


@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize(
    ("condition", "index"),
    [("room = :room", None), ("#owner = :ada", "keys"), ("#owner = :ada", "all")],
)
def test_the_pages_of_a_query_have_each_item_once(
    query: Query, condition: str, index: str | None, forward: bool
) -> None:
    where: dict[str, Any] = {"ScanIndexForward": forward, **({"IndexName": index} if index else {})}
    page = query(condition, Limit=2, **where)
    found = numbers(page)
    while start := page.get("LastEvaluatedKey"):
        page = query(condition, Limit=2, ExclusiveStartKey=start, **where)
        assert len(page["Items"]) <= 2
        found += numbers(page)
    assert found == numbers(query(condition, **where))


def test_a_filter_applies_after_the_limit(query: Query) -> None:
    page = query("room = :room", FilterExpression="n > :five AND colour = :red", Limit=7)
    assert (numbers(page), page["Count"], page["ScannedCount"]) == ([6], 1, 7)
    assert page["LastEvaluatedKey"] == {"room": {"S": "a"}, "n": {"N": "6"}}
    assert query("room = :room", Select="COUNT")["Count"] == 10


def test_the_pages_of_a_scan_have_each_item_once(dynamodb: Any) -> None:
    page = dynamodb.scan(TableName=TABLE, Limit=3)
    found = numbers(page)
    while start := page.get("LastEvaluatedKey"):
        page = dynamodb.scan(TableName=TABLE, Limit=3, ExclusiveStartKey=start)
        found += numbers(page)
    assert sorted(found) == list(range(10))


@pytest.mark.parametrize(
    ("condition", "index"),
    [("n = :two", None), ("room > :room", None), ("room = :room AND due = :year", None)],
)
def test_an_invalid_query_is_refused(query: Query, condition: str, index: str | None) -> None:
    with pytest.raises(ClientError, match="ValidationException"):
        query(condition, **({"IndexName": index} if index else {}))


def test_a_batch_writes_deletes_and_reads_several_items(dynamodb: Any) -> None:
    keys = [{"room": {"S": "a"}, "n": {"N": str(n)}} for n in (1, 3, 77)]
    requests = [{"PutRequest": {"Item": item(1, colour="blue")}}]
    requests += [{"DeleteRequest": {"Key": key}} for key in keys[1:]]
    written = dynamodb.batch_write_item(RequestItems={TABLE: requests})
    read = dynamodb.batch_get_item(RequestItems={TABLE: {"Keys": keys}})
    assert (written["UnprocessedItems"], read["UnprocessedKeys"]) == ({}, {})
    assert read["Responses"] == {TABLE: [item(1, colour="blue")]}


def test_a_batch_with_an_item_twice_is_refused(dynamodb: Any) -> None:
    request = {"PutRequest": {"Item": item(1)}}
    with pytest.raises(ClientError, match="ValidationException"):
        dynamodb.batch_write_item(RequestItems={TABLE: [request, request]})


def test_a_cancelled_transaction_names_the_reason_of_each_action(dynamodb: Any) -> None:
    key = {"room": {"S": "a"}, "n": {"N": "2"}}
    put = {"TableName": TABLE, "Item": item(50)}
    check = {"TableName": TABLE, "Key": key, "ConditionExpression": "attribute_not_exists(n)"}
    with pytest.raises(ClientError) as error:
        dynamodb.transact_write_items(TransactItems=[{"Put": put}, {"ConditionCheck": check}])
    reasons = error.value.response["CancellationReasons"]
    assert error.value.response["Error"]["Code"] == "TransactionCanceledException"
    assert [reason["Code"] for reason in reasons] == ["None", "ConditionalCheckFailed"]
    assert "Item" not in dynamodb.get_item(
        TableName=TABLE, Key={"room": {"S": "a"}, "n": {"N": "50"}}
    )


def test_the_stream_has_each_change_in_order(dynamodb: Any, backend: AwsBackend) -> None:
    count = len(backend.stream_records(TABLE))
    dynamodb.put_item(TableName=TABLE, Item=item(20))
    dynamodb.put_item(TableName=TABLE, Item=item(20, colour="blue"))
    dynamodb.delete_item(TableName=TABLE, Key={"room": {"S": "a"}, "n": {"N": "20"}})
    records = list(backend.stream_records(TABLE)[count:])

    assert [record["eventName"] for record in records] == ["INSERT", "MODIFY", "REMOVE"]
    changes = [record["dynamodb"] for record in records]
    assert [change.get("OldImage") for change in changes] == [
        None,
        item(20),
        item(20, colour="blue"),
    ]
    assert [change.get("NewImage") for change in changes] == [
        item(20),
        item(20, colour="blue"),
        None,
    ]
    sequence_numbers = [int(change["SequenceNumber"]) for change in changes]
    assert sequence_numbers == sorted(set(sequence_numbers))
    assert {change["StreamViewType"] for change in changes} == {"NEW_AND_OLD_IMAGES"}


def test_the_streams_api_reads_records_from_a_sequence_number(
    dynamodb: Any, backend: AwsBackend
) -> None:
    streams = boto3.client("dynamodbstreams")
    arn = dynamodb.describe_table(TableName=TABLE)["Table"]["LatestStreamArn"]
    [shard] = streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
    expected = [one["dynamodb"]["SequenceNumber"] for one in backend.stream_records(TABLE)]
    where = {"StreamArn": arn, "ShardId": shard["ShardId"]}
    for kind, first in (("AT_SEQUENCE_NUMBER", 2), ("AFTER_SEQUENCE_NUMBER", 3)):
        iterator = streams.get_shard_iterator(
            **where, ShardIteratorType=kind, SequenceNumber=expected[2]
        )
        records = streams.get_records(ShardIterator=iterator["ShardIterator"])["Records"]
        assert [one["dynamodb"]["SequenceNumber"] for one in records] == expected[first:]
