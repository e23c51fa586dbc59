"""Data survives a mistake, and travels only encrypted."""

from __future__ import annotations

from typing import Any

import pytest

from local.runtime.template import load_template, resources_of_type

Template = dict[str, Any]
TABLES = sorted(resources_of_type(load_template(), "AWS::DynamoDB::Table"))
SECRETS = sorted(resources_of_type(load_template(), "AWS::SecretsManager::Secret"))
INSECURE = {"Bool": {"aws:SecureTransport": "false"}}


@pytest.mark.parametrize("table", [name for name in TABLES if name != "ConnectionsTable"])
def test_a_table_cannot_be_deleted_by_mistake(template: Template, table: str) -> None:
    assert resources_of_type(template, "AWS::DynamoDB::Table")[table]["DeletionProtectionEnabled"]


def test_the_table_that_goes_with_the_stack_is_not_protected(template: Template) -> None:
    """Deleting the stack would fail on it."""
    assert "DeletionPolicy" not in template["Resources"]["ConnectionsTable"]
    connections = resources_of_type(template, "AWS::DynamoDB::Table")["ConnectionsTable"]
    assert "DeletionProtectionEnabled" not in connections


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_outlives_its_stack(template: Template, secret: str) -> None:
    """CloudFormation deletes a secret without the days in which it could be restored."""
    resource = template["Resources"][secret]

    assert resource["DeletionPolicy"] == resource["UpdateReplacePolicy"] == "Retain"


@pytest.mark.parametrize(
    ("service", "resource", "action", "property_name"),
    [
        ("AWS::SQS", "Queue", "sqs:*", "Queues"),
        ("AWS::SNS", "Topic", "sns:Publish", "Topics"),
    ],
)
def test_queues_and_topics_refuse_requests_without_tls(
    template: Template, service: str, resource: str, action: str, property_name: str
) -> None:
    policies = resources_of_type(template, f"{service}::{resource}Policy").values()
    protected = [
        one["Ref"]
        for policy in policies
        for statement in policy["PolicyDocument"]["Statement"]
        if _refuses_insecure(statement, action)
        for one in policy[property_name]
    ]

    assert sorted(protected) == sorted(resources_of_type(template, f"{service}::{resource}"))


def test_only_alarms_of_the_account_may_publish_to_the_alarm_topic(template: Template) -> None:
    """A policy of the topic replaces the default one, so it has to let the alarms in."""
    policy = resources_of_type(template, "AWS::SNS::TopicPolicy")["AlarmTopicPolicy"]
    [allowed] = [one for one in policy["PolicyDocument"]["Statement"] if one["Effect"] == "Allow"]

    assert allowed["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    assert allowed["Action"] == "sns:Publish"
    assert allowed["Condition"]["StringEquals"] == {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}


def _refuses_insecure(statement: dict[str, Any], action: str) -> bool:
    expected = {"Effect": "Deny", "Principal": "*", "Action": action, "Condition": INSECURE}
    return {name: statement.get(name) for name in expected} == expected
