"""The tables can be restored, age out, and have the indexes that the code reads."""

from __future__ import annotations

from typing import Any

import pytest

from local.runtime.template import load_template, resources_of_type

Template = dict[str, Any]
TABLES = sorted(resources_of_type(load_template(), "AWS::DynamoDB::Table"))
LISTENERS = "ConnectionsTable"  # whoever listens has gone before anybody could restore it
every_table = pytest.mark.parametrize("table", TABLES)
every_kept_table = pytest.mark.parametrize("table", [one for one in TABLES if one != LISTENERS])


@every_table
def test_a_table_is_encrypted(template: Template, table: str) -> None:
    properties = resources_of_type(template, "AWS::DynamoDB::Table")[table]

    assert properties["SSESpecification"] == {"SSEEnabled": True}


@every_kept_table
def test_a_table_can_be_restored(template: Template, table: str) -> None:
    properties = resources_of_type(template, "AWS::DynamoDB::Table")[table]

    assert properties["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}


@every_kept_table
def test_a_table_outlives_its_stack(template: Template, table: str) -> None:
    resource = template["Resources"][table]

    assert resource["DeletionPolicy"] == resource["UpdateReplacePolicy"] == "Retain"


@pytest.mark.parametrize("table", ["TasksTable", "JournalTable", LISTENERS])
def test_what_ages_out_does_so_by_its_own_time(template: Template, table: str) -> None:
    properties = resources_of_type(template, "AWS::DynamoDB::Table")[table]

    wanted = {"AttributeName": "expires_at", "Enabled": True}
    assert properties["TimeToLiveSpecification"] == wanted


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
    [found] = [one for one in indexes if one["IndexName"] == index]

    assert [part["AttributeName"] for part in found["KeySchema"]] == key
    assert found["Projection"] == {"ProjectionType": "KEYS_ONLY"}


def test_the_sparse_indexes_have_hash_keys_of_their_own(template: Template) -> None:
    """A key that a table or another index needs could not be left out to leave this index."""
    tasks = resources_of_type(template, "AWS::DynamoDB::Table")["TasksTable"]
    schemas = {"table": tasks["KeySchema"]}
    schemas |= {one["IndexName"]: one["KeySchema"] for one in tasks["GlobalSecondaryIndexes"]}
    for index in ("DueIndex", "SenderIndex"):
        others = [part for name, schema in schemas.items() if name != index for part in schema]
        hash_key = schemas[index][0]["AttributeName"]
        assert hash_key not in [part["AttributeName"] for part in others]
