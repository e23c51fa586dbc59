"""The template that `make deploy-test` deploys differs from template.yaml only where it has to."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

from local.runtime.template import resources_of_type
from tests.deploy.emulated_template import RESOURCE_POLICIES, UNKNOWN_TYPES, adapt

ENDPOINT = "http://127.0.0.1:4566"
Template = dict[str, Any]


def _adapt(template: Template) -> Template:
    return adapt(template, build=Path("/built"), endpoint=ENDPOINT)


def _references(value: Any) -> Iterator[str]:
    match value:
        case {"Ref": str(name)} | {"Fn::GetAtt": [str(name), _]}:
            yield name
        case dict():
            for part in value.values():
                yield from _references(part)
        case list():
            for part in value:
                yield from _references(part)


def test_only_what_the_emulator_does_not_know_is_missing(template: Template) -> None:
    missing = template["Resources"].keys() - _adapt(template)["Resources"].keys()
    for name in missing:
        resource = template["Resources"][name]
        is_metric_math = "Metrics" in resource["Properties"]
        is_tls_policy = resource["Type"] in RESOURCE_POLICIES
        assert resource["Type"].startswith(UNKNOWN_TYPES) or is_metric_math or is_tls_policy, name
    assert missing


def test_every_reference_leads_to_something(template: Template) -> None:
    adapted = _adapt(template)
    known = {*adapted["Resources"], *adapted["Parameters"]}
    found = {name for name in _references(adapted) if not name.startswith("AWS::")}
    assert found <= known


def test_every_route_becomes_a_resource_with_its_authorizer(template: Template) -> None:
    routes = resources_of_type(_adapt(template), "AWS::ApiGatewayV2::Route").values()
    authorizers = {one["RouteKey"]: one.get("AuthorizerId") for one in routes}
    paths = template["Resources"]["HttpApi"]["Properties"]["Body"]["paths"]
    live_routes = 3
    assert len(authorizers) == live_routes + sum(map(len, paths.values()))
    assert authorizers["ANY /{proxy+}"] == {"Ref": "HttpApiTokenAuthorizer"}
    assert authorizers["GET /docs"] == {"Ref": "HttpApiAnyHeaderAuthorizer"}
    assert authorizers["POST /webhooks/{platform}"] is None


def test_roles_gain_only_the_batch_actions_of_queues(template: Template) -> None:
    before, after = (_actions(one) for one in (template, _adapt(template)))
    assert after - before <= {
        "sqs:SendMessageBatch",
        "sqs:DeleteMessageBatch",
        "sqs:ChangeMessageVisibilityBatch",
    }
    assert before <= after


def test_functions_call_the_emulator_and_not_aws(template: Template) -> None:
    for function in resources_of_type(_adapt(template), "AWS::Lambda::Function").values():
        assert "AWS_ENDPOINT_URL" not in function["Environment"]["Variables"]
    assert _adapt(template)["Outputs"]["ApiUrl"]["Value"]["Fn::Sub"].startswith(ENDPOINT)


def test_a_gradual_deployment_becomes_an_immediate_one(template: Template) -> None:
    """What SAM adds for a function with an alias and a deployment preference."""
    gradual = deepcopy(template)
    gradual["Resources"] |= {
        "Application": {"Type": "AWS::CodeDeploy::Application", "Properties": {}},
        "Group": {"Type": "AWS::CodeDeploy::DeploymentGroup", "Properties": {}},
        "WorkerFunctionAliaslive": {
            "Type": "AWS::Lambda::Alias",
            "DependsOn": ["Group", "WorkerFunction"],
            "UpdatePolicy": {"CodeDeployLambdaAliasUpdate": {"ApplicationName": "x"}},
            "Properties": {"FunctionName": {"Ref": "WorkerFunction"}, "Name": "live"},
        },
    }

    adapted = _adapt(gradual)["Resources"]

    assert not {"Application", "Group"} & adapted.keys()
    alias = adapted["WorkerFunctionAliaslive"]
    assert alias["DependsOn"] == ["WorkerFunction"]
    assert "UpdatePolicy" not in alias


def test_only_the_demand_for_encryption_leaves_the_policies_of_queues(template: Template) -> None:
    def policy(*statements: Any) -> dict[str, Any]:
        document = {"Statement": list(statements)}
        return {"Type": "AWS::SQS::QueuePolicy", "Properties": {"PolicyDocument": document}}

    plain = {"Effect": "Deny", "Condition": {"Bool": {"aws:SecureTransport": "false"}}}
    other = {"Effect": "Allow", "Principal": "*"}
    protected = deepcopy(template)
    protected["Resources"] |= {"OnlyTls": policy(plain), "Both": policy(plain, other)}

    adapted = _adapt(protected)["Resources"]

    assert "OnlyTls" not in adapted
    assert adapted["Both"]["Properties"]["PolicyDocument"]["Statement"] == [other]


def test_a_concurrency_from_a_parameter_is_a_number(template: Template) -> None:
    bounded = deepcopy(template)
    bounded["Parameters"]["Most"] = {"Type": "Number", "Default": 40}
    mapping = {"ScalingConfig": {"MaximumConcurrency": {"Ref": "Most"}}}
    bounded["Resources"]["Bounded"] = {
        "Type": "AWS::Lambda::EventSourceMapping",
        "Properties": mapping,
    }

    scaling = _adapt(bounded)["Resources"]["Bounded"]["Properties"]["ScalingConfig"]

    assert scaling == {"MaximumConcurrency": 40}


def _actions(template: Template) -> set[str]:
    roles = resources_of_type(template, "AWS::IAM::Role").values()
    found: set[str] = set()
    for document in (policy["PolicyDocument"] for role in roles for policy in role["Policies"]):
        for statement in document["Statement"]:
            actions = statement.get("Action", [])
            found.update([actions] if isinstance(actions, str) else actions)
    return found
