"""DynamoDB's expressions: the lean endpoint evaluates them as moto does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from local.runtime.template import Resolver

TABLE = "expressions"
KEY = {"id": {"S": "a"}}
STORED: dict[str, Any] = {
    "id": {"S": "a"},
    "text": {"S": "hello"},
    "count": {"N": "5"},
    "fraction": {"N": "1.50"},
    "tags": {"SS": ["x", "y"]},
    "numbers": {"NS": ["1", "2"]},
    "steps": {"L": [{"S": "one"}, {"S": "two"}, {"S": "three"}]},
    "nested_map": {"M": {"deep": {"M": {"value": {"N": "7"}}}, "flag": {"BOOL": True}}},
    "nothing": {"NULL": True},
    "bytes": {"B": b"\x00\x01"},
}
VALUES: dict[str, Any] = {
    ":hello": {"S": "hello"},
    ":hell": {"S": "hell"},
    ":other": {"S": "other"},
    ":one": {"N": "1"},
    ":five": {"N": "5.0"},
    ":six": {"N": "6"},
    ":seven": {"N": "7"},
    ":x": {"S": "x"},
    ":z": {"SS": ["z"]},
    ":xy": {"SS": ["y", "x"]},
    ":list": {"L": [{"S": "four"}]},
    ":map": {"M": {"new": {"S": "value"}}},
    ":true": {"BOOL": True},
    ":type": {"S": "SS"},
    ":three": {"N": "3"},
    ":bytes": {"B": b"\x00\x01"},
    ":numbers": {"NS": ["2.0", "3"]},
}
NAMES = {"#count": "count", "#text": "text", "#values": "value", "#bytes": "bytes"}


@pytest.fixture(scope="module")
def dynamodb(aws: Resolver) -> Iterator[Any]:  # noqa: ARG001 - its region
    client = boto3.client("dynamodb")
    client.create_table(
        TableName=TABLE,
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    yield client
    client.delete_table(TableName=TABLE)


@pytest.fixture(autouse=True)
def _item(dynamodb: Any) -> None:
    dynamodb.put_item(TableName=TABLE, Item=STORED)


def placeholders(*expressions: str) -> dict[str, Any]:
    """Return the names and values that the expressions use: DynamoDB refuses unused ones."""
    text = " ".join(expressions)
    words = {word.strip("(),=<>[]0123456789") for word in text.replace(".", " ").split()}
    names = {name: NAMES[name] for name in NAMES if name in words}
    values = {name: VALUES[name] for name in VALUES if name in words}
    found: dict[str, Any] = {}
    if names:
        found["ExpressionAttributeNames"] = names
    if values:
        found["ExpressionAttributeValues"] = values
    return found


def holds(dynamodb: Any, condition: str) -> bool:
    try:
        dynamodb.put_item(
            TableName=TABLE,
            Item=STORED,
            ConditionExpression=condition,
            **placeholders(condition),
        )
    except dynamodb.exceptions.ConditionalCheckFailedException:
        return False
    return True


TRUE = [
    "#text = :hello",
    "#count = :five",
    "#count < :six AND #count >= :five",
    "#count <> :six",
    "absent <> :six",
    "#count BETWEEN :one AND :six",
    "#count IN ( :one , :five )",
    "attribute_exists ( nested_map.deep )",
    "attribute_not_exists ( nested_map.absent )",
    "attribute_type ( tags , :type )",
    "begins_with ( #text , :hell )",
    "contains ( #text , :hell )",
    "contains ( tags , :x )",
    "contains ( steps , :other ) OR nested_map.deep.#values = :seven",
    "size ( steps ) = :three",
    "size ( #text ) = :five",
    "tags = :xy",
    "NOT #text = :other",
    "NOT ( #text = :other OR #count = :six )",
    "nested_map.flag = :true",
    "#bytes = :bytes",
]
FALSE = [
    "#text = :other",
    "#text = :five",
    "absent = :six",
    "absent < :six",
    "#count > :five",
    "attribute_exists ( steps[3] )",
    "attribute_not_exists ( steps[2] )",
    "begins_with ( absent , :hell )",
    "#text = :other OR #count = :six AND #text = :hello",
    "contains ( absent , :x )",
]


@pytest.mark.parametrize("condition", TRUE)
def test_a_condition_that_holds(dynamodb: Any, condition: str) -> None:
    assert holds(dynamodb, condition)


@pytest.mark.parametrize("condition", FALSE)
def test_a_condition_that_does_not_hold(dynamodb: Any, condition: str) -> None:
    assert not holds(dynamodb, condition)


UPDATES: dict[str, dict[str, Any]] = {
    "SET #text = :other": {"text": {"S": "other"}},
    "SET #count = #count + :one": {"count": {"N": "6"}},
    "SET #count = #count - :six": {"count": {"N": "-1"}},
    "SET added = if_not_exists ( added , :one ) + :one": {"added": {"N": "2"}},
    "SET #count = if_not_exists ( #count , :one )": {"count": {"N": "5"}},
    "SET steps = list_append ( steps , :list )": {
        "steps": {"L": [*STORED["steps"]["L"], {"S": "four"}]}
    },
    "SET steps[1] = :other": {"steps": {"L": [{"S": "one"}, {"S": "other"}, {"S": "three"}]}},
    "SET nested_map.deep.#values = :six": {
        "nested_map": {"M": {"deep": {"M": {"value": {"N": "6"}}}, "flag": {"BOOL": True}}}
    },
    "SET #text = :other , added = #text": {"text": {"S": "other"}, "added": {"S": "hello"}},
    "REMOVE #text , absent": {"text": None},
    "REMOVE steps[0] , steps[1]": {"steps": {"L": [{"S": "three"}]}},
    "REMOVE nested_map.deep": {"nested_map": {"M": {"flag": {"BOOL": True}}}},
    "ADD #count :six": {"count": {"N": "11"}},
    "ADD added :six": {"added": {"N": "6"}},
    "ADD tags :z": {"tags": {"SS": ["x", "y", "z"]}},
    "DELETE tags :xy": {"tags": None},
    "SET added = :map REMOVE #text ADD #count :one": {
        "added": VALUES[":map"],
        "text": None,
        "count": {"N": "6"},
    },
}


@pytest.mark.parametrize("update", UPDATES)
def test_an_update_changes_these_attributes_and_no_others(dynamodb: Any, update: str) -> None:
    response = dynamodb.update_item(
        TableName=TABLE,
        Key=KEY,
        UpdateExpression=update,
        ReturnValues="ALL_NEW",
        **placeholders(update),
    )
    expected = {k: v for k, v in {**STORED, **UPDATES[update]}.items() if v is not None}
    assert sort_sets(response["Attributes"]) == expected
    assert sort_sets(dynamodb.get_item(TableName=TABLE, Key=KEY)["Item"]) == expected


def sort_sets(item: dict[str, Any]) -> dict[str, Any]:
    """Return the item with its sets in order: DynamoDB returns them in any order."""
    return {
        name: {kind: sorted(content) if kind in ("SS", "NS") else content}
        for name, value in item.items()
        for kind, content in value.items()
    }


@pytest.mark.parametrize(
    "update",
    [
        "SET #count = absent + :one",
        "SET #count = #text + :one",
        "SET absent.nested_map = :one",
        "SET id = :other",
        "ADD #text :one",
        "SET #text = :one , #text = :other",
        "SET #text",
        "SET #text = :undefined",
        "PUSH #text :one",
    ],
)
def test_an_invalid_update_is_refused_and_changes_nothing(dynamodb: Any, update: str) -> None:
    with pytest.raises(ClientError, match="ValidationException"):
        dynamodb.update_item(
            TableName=TABLE, Key=KEY, UpdateExpression=update, **placeholders(update)
        )
    assert sort_sets(dynamodb.get_item(TableName=TABLE, Key=KEY)["Item"]) == STORED


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("ALL_OLD", STORED),
        ("UPDATED_OLD", {"count": {"N": "5"}}),
        ("UPDATED_NEW", {"count": {"N": "6"}}),
        ("NONE", None),
    ],
)
def test_an_update_returns_what_was_asked_for(dynamodb: Any, kind: str, expected: Any) -> None:
    update = "ADD #count :one"
    response = dynamodb.update_item(
        TableName=TABLE,
        Key=KEY,
        UpdateExpression=update,
        ReturnValues=kind,
        **placeholders(update),
    )
    found = response.get("Attributes")
    assert (found and sort_sets(found)) == expected


def test_an_update_creates_a_missing_item(dynamodb: Any) -> None:
    key = {"id": {"S": "new"}}
    dynamodb.update_item(
        TableName=TABLE, Key=key, UpdateExpression="ADD times :one", **placeholders(":one")
    )
    assert dynamodb.get_item(TableName=TABLE, Key=key)["Item"] == {**key, "times": {"N": "1"}}
    dynamodb.delete_item(TableName=TABLE, Key=key)


def test_a_projection_returns_parts_of_the_item(dynamodb: Any) -> None:
    response = dynamodb.get_item(
        TableName=TABLE,
        Key=KEY,
        ProjectionExpression="#text, nested_map.flag, absent",
        ExpressionAttributeNames={"#text": "text"},
    )
    assert response["Item"] == {
        "text": {"S": "hello"},
        "nested_map": {"M": {"flag": {"BOOL": True}}},
    }


def test_put_and_delete_return_the_old_item(dynamodb: Any) -> None:
    put = dynamodb.put_item(TableName=TABLE, Item=KEY, ReturnValues="ALL_OLD")
    assert sort_sets(put["Attributes"]) == STORED
    deleted = dynamodb.delete_item(TableName=TABLE, Key=KEY, ReturnValues="ALL_OLD")
    assert deleted["Attributes"] == KEY
    assert "Attributes" not in dynamodb.delete_item(
        TableName=TABLE, Key=KEY, ReturnValues="ALL_OLD"
    )
