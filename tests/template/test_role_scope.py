"""Every function has a role of its own, which names each resource that it may use."""

from __future__ import annotations

from typing import Any

import pytest

from local.runtime.template import load_template, resources_of_type
from local.testing.faults import short_name
from tests.support.role_policies import allowed_calls, polled_by_lambda, statements_of

Template = dict[str, Any]
ROLES = sorted(resources_of_type(load_template(), "AWS::IAM::Role"))
FUNCTIONS = sorted(resources_of_type(load_template(), "AWS::Lambda::Function"))
DEPLOYMENT_ROLES = ["DeploymentRole", "HttpDeploymentRole"]
every_role = pytest.mark.parametrize("role", ROLES)
every_function = pytest.mark.parametrize("function", FUNCTIONS)
# A wildcard is the whole of what IAM knows for these, or stands for names that AWS gives later.
WILDCARDS = {
    "events:ListRules": ":rule/*",  # checked against all rules of the account
    "dynamodb:ListStreams": ".Arn}/stream/*",  # names no stream, only its table
    "execute-api:ManageConnections": "/@connections/*",  # each connection has its own id
}
# Actions for which IAM knows no resource at all, and why a role has them.
WITHOUT_RESOURCE = {
    "xray:PutTraceSegments": "traces, if Tracing is on",
    "xray:PutTelemetryRecords": "traces, if Tracing is on",
}


@every_role
def test_a_role_has_no_managed_policy(template: Template, role: str) -> None:
    """Those of AWS allow every queue, stream and log group of the account."""
    assert "ManagedPolicyArns" not in resources_of_type(template, "AWS::IAM::Role")[role]


@every_function
def test_a_function_has_a_role_of_its_own(template: Template, function: str) -> None:
    properties = resources_of_type(template, "AWS::Lambda::Function")[function]

    assert properties["Role"] == {"Fn::GetAtt": [f"{function}Role", "Arn"]}


def test_every_role_belongs_to_a_function_or_to_deployments() -> None:
    assert sorted([*(f"{function}Role" for function in FUNCTIONS), *DEPLOYMENT_ROLES]) == ROLES


@every_role
def test_only_one_service_may_assume_a_role(template: Template, role: str) -> None:
    document = resources_of_type(template, "AWS::IAM::Role")[role]["AssumeRolePolicyDocument"]
    [statement] = document["Statement"]
    service = "codedeploy" if role in DEPLOYMENT_ROLES else "lambda"

    assert statement["Principal"] == {"Service": f"{service}.amazonaws.com"}
    assert statement["Action"] == "sts:AssumeRole"


@every_role
def test_no_action_of_a_role_is_a_wildcard(role: str) -> None:
    actions = [action for statement in statements_of(role) for action in statement.actions]

    assert actions
    assert [action for action in actions if "*" in action] == []


@every_role
def test_a_role_names_its_resources(role: str) -> None:
    for statement in statements_of(role):
        for resource in statement.resources:
            if resource == "*":
                assert set(statement.actions) <= WITHOUT_RESOURCE.keys(), statement
            elif "*" in str(resource):
                [action] = statement.actions
                assert resource["Fn::Sub"].endswith(WILDCARDS[action]), statement


@every_function
def test_a_function_may_read_its_event_sources_and_write_its_logs(function: str) -> None:
    name = short_name(function)

    assert set(polled_by_lambda(name)) <= allowed_calls(name)
