"""With KmsKeyArn, everything stored is encrypted with that key, and each role may use it."""

from __future__ import annotations

from typing import Any

import pytest

from local.runtime.template import Resolver, load_template, resources_of_type
from local.testing.faults import short_name
from tests.support.role_policies import allowed_calls, role_name, statements_of

Template = dict[str, Any]
KEY = "arn:aws:kms:eu-central-1:123456789012:key/0f7c"
FUNCTIONS = sorted(
    short_name(name) for name in resources_of_type(load_template(), "AWS::Lambda::Function")
)
# The property that names the key, by type of resource.
KEY_PROPERTIES = {
    "AWS::DynamoDB::Table": ("SSESpecification", "KMSMasterKeyId"),
    "AWS::SQS::Queue": ("KmsMasterKeyId",),
    "AWS::SNS::Topic": ("KmsMasterKeyId",),
    "AWS::SecretsManager::Secret": ("KmsKeyId",),
    "AWS::Logs::LogGroup": ("KmsKeyId",),
}
ENCRYPTED = [
    (kind, name) for kind in KEY_PROPERTIES for name in resources_of_type(load_template(), kind)
]
SERVICES = ("dynamodb", "sqs", "sns", "secretsmanager")
every_encrypted_resource = pytest.mark.parametrize(("kind", "name"), ENCRYPTED)
every_function = pytest.mark.parametrize("function", FUNCTIONS)


def _key_of(template: Template, kind: str, name: str, **parameters: str) -> Any:
    """Return the key of a resource, or None if it has the one that AWS owns or manages."""
    path = KEY_PROPERTIES[kind]
    properties = resources_of_type(template, kind)[name]
    part = {path[0]: properties[path[0]]}
    resolved = Resolver(template, parameters).resolve(part)
    for step in path:
        resolved = resolved.get(step) if resolved else None
    return None if str(resolved).startswith("alias/aws/") else resolved


@every_encrypted_resource
def test_a_key_of_your_own_encrypts_what_is_stored(
    template: Template, kind: str, name: str
) -> None:
    assert _key_of(template, kind, name, KmsKeyArn=KEY) == KEY


@every_encrypted_resource
def test_without_a_key_those_of_aws_are_used(template: Template, kind: str, name: str) -> None:
    assert _key_of(template, kind, name) is None


@pytest.mark.parametrize(("key", "is_managed"), [("", True), (KEY, False)])
def test_a_queue_has_one_kind_of_encryption(template: Template, key: str, is_managed: bool) -> None:
    """SQS refuses a queue with both."""
    for queue in resources_of_type(template, "AWS::SQS::Queue").values():
        own = {name: queue[name] for name in queue if "Sse" in name or "Kms" in name}
        resolved = Resolver(template, {"KmsKeyArn": key}).resolve(own)
        assert resolved.get("SqsManagedSseEnabled", False) is is_managed
        assert ("KmsMasterKeyId" in resolved) is not is_managed


@every_function
def test_a_role_may_use_the_key_only_through_the_services_that_it_uses(function: str) -> None:
    used = {action.partition(":")[0] for action, _ in allowed_calls(function)}
    [statement] = _key_statements(function)

    assert statement.resources == [{"Ref": "KmsKeyArn"}]
    services = [one["Fn::Sub"] for one in statement.condition["StringEquals"]["kms:ViaService"]]
    assert [one.partition(".")[0] for one in services] == [one for one in SERVICES if one in used]


@every_function
def test_a_role_has_the_key_permissions_that_its_calls_need(function: str) -> None:
    calls = {action for action, _ in allowed_calls(function)}
    [statement] = _key_statements(function)

    assert "kms:Decrypt" in statement.actions
    assert ("kms:GenerateDataKey" in statement.actions) or "sqs:SendMessage" not in calls


def test_the_key_is_used_only_with_the_parameter(template: Template) -> None:
    for role in resources_of_type(template, "AWS::IAM::Role").values():
        for one in role["Policies"][0]["PolicyDocument"]["Statement"]:
            if "kms:" in str(one):
                assert one["Fn::If"][0] == "HasKmsKey"
                assert one["Fn::If"][2] == {"Ref": "AWS::NoValue"}


def _key_statements(function: str) -> list[Any]:
    statements = statements_of(role_name(function))
    return [one for one in statements if any(action.startswith("kms:") for action in one.actions)]
