"""The tables can be restored, expire their items, and have the indexes that the code reads."""

from __future__ import annotations

from typing import Any

import pytest

from local.runtime.template import load_template, resources_of_type

Template = dict[str, Any]
TABLES = sorted(resources_of_type(load_template(), "AWS::DynamoDB::Table"))
CONNECTIONS = "ConnectionsTable"  # its connections end long before a restore
every_table = pytest.mark.parametrize("table", TABLES)
every_retained_table = pytest.mark.parametrize(
    "table", [name for name in TABLES if name != CONNECTIONS]
)


@every_table
def test_a_table_is_encrypted(template: Template, table: str) -> None:
    properties = resources_of_type(template, "AWS::DynamoDB::Table")[table]

    assert properties["SSESpecification"]["SSEEnabled"] is True
    assert properties["SSESpecification"]["SSEType"] == "KMS"


@every_retained_table
def test_a_table_can_be_restored(template: Template, table: str) -> None:
    properties = resources_of_type(template, "AWS::DynamoDB::Table")[table]

    assert properties["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}


@every_retained_table
def test_a_table_is_retained_when_its_stack_is_deleted(template: Template, table: str) -> None:
    resource = template["Resources"][table]

    assert resource["DeletionPolicy"] == resource["UpdateReplacePolicy"] == "Retain"


@pytest.mark.parametrize(
    "table",
    ["TasksTable", "JournalTable", "StateTable", "SubjectsTable", "StatsTable", CONNECTIONS],
)
def test_items_expire_by_expires_at(template: Template, table: str) -> None:
    properties = resources_of_type(template, "AWS::DynamoDB::Table")[table]

    expected = {"AttributeName": "expires_at", "Enabled": True}
    assert properties["TimeToLiveSpecification"] == expected


@pytest.mark.parametrize(
    ("index", "key"),
    [
        ("DueIndex", ["due_shard", "due_at"]),
        ("SenderIndex", ["open_sender", "created_at"]),
        ("CreatedIndex", ["shard", "created_at"]),
    ],
)
def test_an_index_holds_keys_only(template: Template, index: str, key: list[str]) -> None:
    indexes = resources_of_type(template, "AWS::DynamoDB::Table")["TasksTable"][
        "GlobalSecondaryIndexes"
    ]
    [properties] = [
        index_properties for index_properties in indexes if index_properties["IndexName"] == index
    ]

    assert [part["AttributeName"] for part in properties["KeySchema"]] == key
    assert properties["Projection"] == {"ProjectionType": "KEYS_ONLY"}


def test_the_sparse_indexes_have_their_own_hash_keys(template: Template) -> None:
    """An item leaves an index by dropping its key, which nothing else may need."""
    tasks = resources_of_type(template, "AWS::DynamoDB::Table")["TasksTable"]
    schemas = {"table": tasks["KeySchema"]}
    schemas |= {index["IndexName"]: index["KeySchema"] for index in tasks["GlobalSecondaryIndexes"]}
    for index in ("DueIndex", "SenderIndex"):
        other_keys = [part for name, schema in schemas.items() if name != index for part in schema]
        hash_key = schemas[index][0]["AttributeName"]
        assert hash_key not in [part["AttributeName"] for part in other_keys]
