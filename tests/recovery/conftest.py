from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from local.runtime.template import ACCOUNT, REGION, load_template, resources_of_type
from local.stack_resources import (
    FUNCTION,
    MAPPING,
    RULE,
    SECRET,
    TABLE,
    StackResources,
    parse_summaries,
)

ROLE = "any"


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    with mock_aws():
        yield


@pytest.fixture
def resources(aws: None) -> StackResources:  # noqa: ARG001 - has to run first
    """Make the tables, secrets, rules, functions and mappings of a deployed stack."""
    boto3.client("iam").create_role(RoleName=ROLE, AssumeRolePolicyDocument="{}")
    template = load_template()
    summaries = [
        {"ResourceType": kind, "LogicalResourceId": name, "PhysicalResourceId": made}
        for kind, make in MAKERS.items()
        for name, properties in resources_of_type(template, kind).items()
        if (made := make(f"duecourse-{name}", properties))
    ]
    return parse_summaries(summaries)


def _make_table(name: str, properties: dict[str, Any]) -> str:
    copied = ("KeySchema", "AttributeDefinitions", "BillingMode", "GlobalSecondaryIndexes")
    definition = {key: properties[key] for key in copied if key in properties}
    client = boto3.client("dynamodb")
    client.create_table(
        TableName=name,
        DeletionProtectionEnabled=properties.get("DeletionProtectionEnabled", False),
        **definition,
    )
    if backups := properties.get("PointInTimeRecoverySpecification"):
        client.update_continuous_backups(TableName=name, PointInTimeRecoverySpecification=backups)
    return name


def _make_secret(name: str, _properties: dict[str, Any]) -> str:
    return str(boto3.client("secretsmanager").create_secret(Name=name, SecretString="{}")["ARN"])


def _make_rule(name: str, properties: dict[str, Any]) -> str:
    schedule = properties["ScheduleExpression"]
    boto3.client("events").put_rule(Name=name, ScheduleExpression=schedule)
    return name


def _make_function(name: str, properties: dict[str, Any]) -> str:
    boto3.client("lambda").create_function(
        FunctionName=name,
        Runtime=properties["Runtime"],
        Handler=properties["Handler"],
        Role=f"arn:aws:iam::{ACCOUNT}:role/{ROLE}",
        Code={"ZipFile": b"code"},
    )
    return name


def _make_mapping(name: str, properties: dict[str, Any]) -> str | None:
    if properties["EventSourceArn"]["Fn::GetAtt"][1] != "Arn":
        return None  # moto maps a stream only if its table is there under that name
    queue = boto3.client("sqs").create_queue(QueueName=name)["QueueUrl"].rpartition("/")[2]
    made = boto3.client("lambda").create_event_source_mapping(
        EventSourceArn=f"arn:aws:sqs:{REGION}:{ACCOUNT}:{queue}",
        FunctionName="duecourse-WorkerFunction",
    )
    return str(made["UUID"])


MAKERS = {
    TABLE: _make_table,
    SECRET: _make_secret,
    RULE: _make_rule,
    FUNCTION: _make_function,
    MAPPING: _make_mapping,
}
