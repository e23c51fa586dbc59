"""The runbook for a restore, step by step, on moto: stop, restore, point, start."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest

from local.recovery.pointing import adopt, point_at
from local.recovery.restore import RestoredTable, restore_tables, tables_to_restore
from local.recovery.work import start_work, stop_work
from local.runtime.template import load_template, resources_of_type
from local.stack_resources import FUNCTION, MAPPING, RULE, TABLE, StackResources

AN_HOUR_AGO = datetime(2026, 2, 17, 11, tzinfo=UTC)
TASK = {"short_id": {"S": "b9b3"}, "id": {"S": "b9b3c098"}, "shard": {"N": "1"}}


def _restore(resources: StackResources) -> dict[str, RestoredTable]:
    return restore_tables(
        load_template(),
        resources,
        client=boto3.client("dynamodb"),
        suffix="restored",
        at=AN_HOUR_AGO,
    )


def test_a_restored_table_has_the_items_and_all_settings(resources: StackResources) -> None:
    client = boto3.client("dynamodb")
    client.put_item(TableName=resources.of_type(TABLE)["TasksTable"], Item=TASK)

    tasks = _restore(resources)["TasksTable"]

    assert tasks.name == "duecourse-TasksTable-restored"
    assert client.scan(TableName=tasks.name)["Items"] == [TASK]
    described = client.describe_table(TableName=tasks.name)["Table"]
    assert described["DeletionProtectionEnabled"] is True
    assert described["StreamSpecification"]["StreamViewType"] == "NEW_AND_OLD_IMAGES"
    assert tasks.stream_arn == described["LatestStreamArn"]
    expiry = client.describe_time_to_live(TableName=tasks.name)["TimeToLiveDescription"]
    assert expiry == {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires_at"}
    backups = client.describe_continuous_backups(TableName=tasks.name)
    recovery = backups["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
    assert recovery["PointInTimeRecoveryStatus"] == "ENABLED"


def test_every_table_with_backups_is_restored_with_its_indexes(resources: StackResources) -> None:
    client = boto3.client("dynamodb")
    restored = _restore(resources)

    assert set(restored) == set(resources.of_type(TABLE)) - {"ConnectionsTable"}
    for name, table in restored.items():
        indexes = resources_of_type(load_template(), TABLE)[name].get("GlobalSecondaryIndexes", [])
        described = client.describe_table(TableName=table.name)["Table"]
        assert {one["IndexName"] for one in described.get("GlobalSecondaryIndexes", [])} == {
            one["IndexName"] for one in indexes
        }


@pytest.fixture
def tables() -> dict[str, RestoredTable]:
    return {
        name: RestoredTable(
            f"{name}-2", f"arn:aws:dynamodb:::table/{name}-2", f"arn:stream/{name}-2"
        )
        for name in tables_to_restore(load_template())
    }


def test_a_pointed_template_refers_to_no_table_of_its_own(tables: dict[str, RestoredTable]) -> None:
    """CloudFormation would refuse a reference to a resource that is not there."""
    pointed = point_at(load_template(), tables)

    assert set(resources_of_type(pointed, TABLE)) == {"ConnectionsTable"}
    text = json.dumps(pointed)
    for name in tables:
        for reference in (f'"Ref": "{name}"', f'"Fn::GetAtt": ["{name}"', f"${{{name}"):
            assert reference not in text


def test_functions_roles_and_streams_use_the_restored_tables(
    tables: dict[str, RestoredTable],
) -> None:
    pointed = point_at(load_template(), tables)

    for function in resources_of_type(pointed, "AWS::Lambda::Function").values():
        assert function["Environment"]["Variables"]["TASKS_TABLE"] == "TasksTable-2"
    mappings = resources_of_type(pointed, "AWS::Lambda::EventSourceMapping").values()
    streams = {one["EventSourceArn"] for one in mappings if isinstance(one["EventSourceArn"], str)}
    assert streams == {"arn:stream/TasksTable-2", "arn:stream/JournalTable-2"}
    policies = json.dumps(resources_of_type(pointed, "AWS::IAM::Role"))
    assert "arn:aws:dynamodb:::table/TasksTable-2/index/DueIndex" in policies


def test_pointing_publishes_new_versions_and_moves_the_aliases_at_once(
    tables: dict[str, RestoredTable],
) -> None:
    """A version keeps the names of its tables, and two versions would use different ones."""
    pointed = point_at(load_template(), tables)
    stored = resources_of_type(pointed, "AWS::AppConfig::HostedConfigurationVersion")

    assert "TasksTable-2" in json.dumps(stored["SettingsVersion"])
    for group in resources_of_type(pointed, "AWS::CodeDeploy::DeploymentGroup").values():
        assert group["DeploymentConfigName"] == "CodeDeployDefault.LambdaAllAtOnce"


def test_an_import_adds_the_tables_and_changes_nothing_else(
    tables: dict[str, RestoredTable],
) -> None:
    template = load_template()
    pointed = point_at(template, tables)
    adopted, imports = adopt(template, tables)

    added = {name: adopted["Resources"].pop(name) for name in tables}
    assert adopted == pointed
    assert added == {name: template["Resources"][name] for name in tables}
    assert {one["LogicalResourceId"] for one in imports} == set(tables)
    assert {one["DeletionPolicy"] for one in added.values()} == {"Retain"}  # or it is refused


def test_work_stops_and_starts_again(resources: StackResources) -> None:
    events, functions = boto3.client("events"), boto3.client("lambda")

    stop_work(resources, events=events, functions=functions)
    assert _states(resources) == ({"DISABLED"}, {"Disabled"}, {0})

    start_work(resources, events=events, functions=functions)
    assert _states(resources) == ({"ENABLED"}, {"Enabled"}, {None})


def _states(resources: StackResources) -> tuple[set[Any], set[Any], set[Any]]:
    events, functions = boto3.client("events"), boto3.client("lambda")
    rules = {events.describe_rule(Name=one)["State"] for one in resources.of_type(RULE).values()}
    mappings = {
        functions.get_event_source_mapping(UUID=one)["State"]
        for one in resources.of_type(MAPPING).values()
    }
    limits = {
        functions.get_function_concurrency(FunctionName=name).get("ReservedConcurrentExecutions")
        for logical_id, name in resources.of_type(FUNCTION).items()
        if logical_id in ("ApiFunction", "WebhookFunction", "LiveFunction")
    }
    return rules, mappings, limits
