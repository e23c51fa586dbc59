"""template.yaml as the emulator accepts it.

The emulator is MiniStack. What it does not know is left out or written in another way, here and
not in template.yaml:

- SAM describes the routes of the HTTP API as an OpenAPI document (`Body`), which it ignores. They
  become resources of their own.
- It refuses `AWS::ApiGatewayV2::RouteResponse`, the resources of CodeDeploy, and alarms on metric
  math. Without a route response, WebSocket clients get no reply to their messages. Without
  CodeDeploy, an alias moves to the new version at once.
- It asks for `sqs:SendMessageBatch`, which is not an action of IAM: `sqs:SendMessage` covers it.
- Its calls are not encrypted, so policies of queues and topics that demand TLS would refuse all.
- It does not convert parameters to numbers, as CloudFormation does for a property that is one.
- A declared but empty AWS_ENDPOINT_URL would send the calls of the functions to AWS.
- A reference to a secret gives its name, where CloudFormation gives its ARN.
- The addresses in outputs and variables are those of AWS, which do not lead to it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

from local.runtime.template import resources_of_type

Template = dict[str, Any]
Resources = dict[str, dict[str, Any]]

UNKNOWN_TYPES = ("AWS::ApiGatewayV2::RouteResponse", "AWS::CodeDeploy::")
RESOURCE_POLICIES = ("AWS::SQS::QueuePolicy", "AWS::SNS::TopicPolicy")
_TLS = "aws:SecureTransport"
_ANY_METHOD = "x-amazon-apigateway-any-method"
_INTEGRATION = "x-amazon-apigateway-integration"
_AUTHORIZER = "x-amazon-apigateway-authorizer"
_BATCH_ACTIONS = {
    f"sqs:{name}": f"sqs:{name}Batch"
    for name in ("SendMessage", "DeleteMessage", "ChangeMessageVisibility")
}
_AWS_HOST = ".execute-api.${AWS::Region}.${AWS::URLSuffix}"


def adapt(template: Template, *, build: Path, endpoint: str) -> Template:
    """Return the translated template for an emulator at `endpoint`, with the code in `build`."""
    adapted = deepcopy(template)
    resources = adapted["Resources"]
    _remove_tls_policies(resources)
    _remove_unknown_resources(resources)
    _convert_concurrency(adapted)
    _use_built_code(resources, build)
    for name, properties in resources_of_type(adapted, "AWS::ApiGatewayV2::Api").items():
        if body := properties.pop("Body", None):
            properties.update(Name=name, ProtocolType="HTTP")
            resources.update(_make_routes(name, body))
    _allow_batch_actions(resources)
    for function in resources_of_type(adapted, "AWS::Lambda::Function").values():
        function["Environment"]["Variables"].pop("AWS_ENDPOINT_URL", None)
    secrets = resources_of_type(adapted, "AWS::SecretsManager::Secret")
    result: Template = _rewrite(adapted, secrets, endpoint)
    return result


def api_url(endpoint: str, api_id: str) -> str:
    """Return the address of a deployed HTTP API. Its own host name would need a name server."""
    return f"{endpoint}/_aws/execute-api/{api_id}/$default"


def _remove_unknown_resources(resources: Resources) -> None:
    for name, resource in list(resources.items()):
        is_metric_math = resource["Type"] == "AWS::CloudWatch::Alarm" and (
            "Metrics" in resource["Properties"]
        )
        if resource["Type"].startswith(UNKNOWN_TYPES) or is_metric_math:
            del resources[name]
        resource.pop("UpdatePolicy", None)  # names the application in CodeDeploy
    for resource in resources.values():
        wanted = _as_list(resource.pop("DependsOn", []))
        if wanted := [name for name in wanted if name in resources]:
            resource["DependsOn"] = wanted


def _remove_tls_policies(resources: Resources) -> None:
    """Remove statements about encryption, and policies that have no others."""
    for name, resource in list(resources.items()):
        if resource["Type"] in RESOURCE_POLICIES:
            document = resource["Properties"]["PolicyDocument"]
            statements = _as_list(document["Statement"])
            document["Statement"] = [one for one in statements if _TLS not in str(one)]
            if not document["Statement"]:
                del resources[name]


def _convert_concurrency(template: Template) -> None:
    for mapping in resources_of_type(template, "AWS::Lambda::EventSourceMapping").values():
        match mapping.get("ScalingConfig"):
            case {"MaximumConcurrency": {"Ref": name}}:
                default = template["Parameters"][name]["Default"]
                mapping["ScalingConfig"] = {"MaximumConcurrency": int(default)}


def _use_built_code(resources: Resources, build: Path) -> None:
    """Name the folders that `sam build` made, which `sam deploy` uploads."""
    for name, resource in resources.items():
        if resource["Type"] == "AWS::Lambda::Function":
            resource["Properties"]["Code"] = str(build / name)
        if resource["Type"] == "AWS::Lambda::LayerVersion":
            properties = resource["Properties"]
            properties["Content"] = str(build / properties["LayerName"])


def _make_routes(api: str, body: dict[str, Any]) -> Resources:
    made: Resources = {}
    for name, scheme in body["components"]["securitySchemes"].items():
        if authorizer := scheme.get(_AUTHORIZER):
            made[f"{api}{name}Authorizer"] = _make_authorizer(api, name, authorizer)
    for number, (key, operation) in enumerate(_operations(body)):
        integration = f"{api}Integration{number}"
        made[integration] = _make_integration(api, operation[_INTEGRATION])
        made[f"{api}Route{number}"] = _make_route(api, key, integration, operation)
    return made


def _operations(body: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return the operations by route key, such as `GET /docs`."""
    for path, operations in body["paths"].items():
        for method, operation in operations.items():
            yield f"{'ANY' if method == _ANY_METHOD else method.upper()} {path}", operation


def _make_authorizer(api: str, name: str, authorizer: dict[str, Any]) -> dict[str, Any]:
    return {
        "Type": "AWS::ApiGatewayV2::Authorizer",
        "Properties": {
            "ApiId": {"Ref": api},
            "Name": name,
            "AuthorizerType": "REQUEST",
            "AuthorizerUri": authorizer["authorizerUri"],
            "AuthorizerPayloadFormatVersion": authorizer["authorizerPayloadFormatVersion"],
            "AuthorizerResultTtlInSeconds": authorizer["authorizerResultTtlInSeconds"],
            "EnableSimpleResponses": authorizer["enableSimpleResponses"],
            "IdentitySource": _as_list(authorizer["identitySource"]),
        },
    }


def _make_integration(api: str, integration: dict[str, Any]) -> dict[str, Any]:
    return {
        "Type": "AWS::ApiGatewayV2::Integration",
        "Properties": {
            "ApiId": {"Ref": api},
            "IntegrationType": "AWS_PROXY",
            "IntegrationUri": integration["uri"],
            "PayloadFormatVersion": integration["payloadFormatVersion"],
        },
    }


def _make_route(api: str, key: str, integration: str, operation: dict[str, Any]) -> dict[str, Any]:
    properties: dict[str, Any] = {
        "ApiId": {"Ref": api},
        "RouteKey": key,
        "Target": {"Fn::Sub": f"integrations/${{{integration}}}"},
    }
    [scheme] = operation["security"][0]
    if scheme != "NONE":
        properties["AuthorizationType"] = "CUSTOM"
        properties["AuthorizerId"] = {"Ref": f"{api}{scheme}Authorizer"}
    return {"Type": "AWS::ApiGatewayV2::Route", "Properties": properties}


def _allow_batch_actions(resources: Resources) -> None:
    for resource in resources.values():
        for statement in _statements(resource):
            actions = _as_list(statement["Action"])
            more = [_BATCH_ACTIONS[one] for one in actions if one in _BATCH_ACTIONS]
            statement["Action"] = [*actions, *more]


def _statements(resource: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the statements of a role's or a policy's documents, also those behind a condition."""
    properties = resource.get("Properties", {})
    documents = [one["PolicyDocument"] for one in properties.get("Policies", [])]
    if resource["Type"] in ("AWS::IAM::Policy", "AWS::IAM::ManagedPolicy"):
        documents.append(properties["PolicyDocument"])
    pending = [one for document in documents for one in _as_list(document["Statement"])]
    while pending:
        match pending.pop():
            case {"Fn::If": [_, if_true, if_false]}:
                pending += [if_true, if_false]
            case {"Effect": _} as statement:
                yield statement


def _rewrite(value: Any, secrets: Collection[str], endpoint: str) -> Any:
    """Replace references to secrets, and addresses that lead to AWS."""
    match value:
        case {"Ref": str(name)} if name in secrets:
            return {"Fn::GetAtt": [name, "Id"]}
        case dict():
            return {key: _rewrite(part, secrets, endpoint) for key, part in value.items()}
        case list():
            return [_rewrite(part, secrets, endpoint) for part in value]
        case str():
            return value.replace(
                f"https://${{HttpApi}}{_AWS_HOST}", api_url(endpoint, "${HttpApi}")
            )
    return value


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else [value]
