"""The runbook for removing a stack, on moto: what it leaves behind is found and deleted."""

from __future__ import annotations

import json
from pathlib import Path
from unittest.mock import patch

import boto3
import pytest
from botocore.exceptions import ClientError

from local.recovery import __main__ as steps
from local.recovery.removal import find_leftovers, remove_leftovers
from local.runtime.template import load_template, resources_of_type
from local.stack_resources import SECRET, TABLE, StackResources


def test_tables_and_secrets_are_left_behind_except_open_connections(
    resources: StackResources,
) -> None:
    leftovers = find_leftovers(load_template(), resources)

    assert set(leftovers[TABLE]) == set(resources.of_type(TABLE)) - {"ConnectionsTable"}
    assert set(leftovers[SECRET]) == set(resources_of_type(load_template(), SECRET))


def test_a_protected_table_cannot_be_deleted_by_itself(resources: StackResources) -> None:
    """So the step that removes leftovers has to take the protection away."""
    table = resources.of_type(TABLE)["TasksTable"]

    with pytest.raises(ClientError, match="DeletionProtectionEnabled"):
        boto3.client("dynamodb").delete_table(TableName=table)


def test_the_leftovers_are_deleted_and_secrets_can_be_restored(resources: StackResources) -> None:
    leftovers = find_leftovers(load_template(), resources)
    tables, secrets = boto3.client("dynamodb"), boto3.client("secretsmanager")

    remove_leftovers(leftovers, tables=tables, secrets=secrets)

    assert tables.list_tables()["TableNames"] == [resources.of_type(TABLE)["ConnectionsTable"]]
    for secret in leftovers[SECRET].values():
        assert "DeletedDate" in secrets.describe_secret(SecretId=secret)
        secrets.restore_secret(SecretId=secret)


def test_the_steps_of_the_command_line(resources: StackResources, tmp_path: Path) -> None:
    file = tmp_path / "leftovers.json"
    with (
        patch.object(steps, "read_resources", return_value=resources),
        patch.object(steps, "_template", return_value=load_template()),
    ):
        steps.main(["leftovers", "duecourse", "--file", str(file)])
    assert len(json.loads(file.read_text())[TABLE]) == 5

    steps.main(["remove", str(file)])

    assert len(boto3.client("dynamodb").list_tables()["TableNames"]) == 1
