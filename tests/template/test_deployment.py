"""A deployment moves work to the new version step by step, and back if a function fails."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest

from local.runtime.template import (
    ALIAS,
    ROOT,
    Resolver,
    function_id,
    load_template,
    resources_of_type,
    translate,
)

Template = dict[str, Any]
FUNCTIONS = sorted(resources_of_type(load_template(), "AWS::Lambda::Function"))
every_function = pytest.mark.parametrize("function", FUNCTIONS)


def _alias(template: Template, function: str) -> dict[str, Any]:
    resource: dict[str, Any] = template["Resources"][f"{function}Alias{ALIAS}"]
    return resource


def _versions(template: Template) -> dict[str, str]:
    """Return the logical id of each function's version. CloudFormation publishes a new one."""
    versions = resources_of_type(template, "AWS::Lambda::Version")
    return {one["FunctionName"]["Ref"]: name for name, one in versions.items()}


@every_function
def test_a_function_has_an_alias_that_codedeploy_moves(template: Template, function: str) -> None:
    alias = _alias(template, function)
    update = alias["UpdatePolicy"]["CodeDeployLambdaAliasUpdate"]

    assert alias["Properties"]["FunctionName"] == {"Ref": function}
    assert update["DeploymentGroupName"] == {"Ref": f"{function}DeploymentGroup"}


def test_everything_calls_an_alias(template: Template) -> None:
    """A caller of the function itself would get code that no deployment has released."""
    mappings = resources_of_type(template, "AWS::Lambda::EventSourceMapping").values()
    rules = resources_of_type(template, "AWS::Events::Rule").values()
    permissions = resources_of_type(template, "AWS::Lambda::Permission").values()
    called = [one["FunctionName"] for one in (*mappings, *permissions)]
    called += [target["Arn"] for rule in rules for target in rule["Targets"]]

    aliases = resources_of_type(template, "AWS::Lambda::Alias")
    assert {_when_deployed(one)["Ref"] for one in called} == set(aliases)
    assert {function_id(one) for one in called} == set(FUNCTIONS)


def test_the_apis_call_aliases(template: Template) -> None:
    apis = resources_of_type(template, "AWS::ApiGatewayV2::Api").values()
    [body] = [one["Body"] for one in apis if "Body" in one]
    integrations = resources_of_type(template, "AWS::ApiGatewayV2::Integration")
    text = json.dumps([body, integrations])
    authorizers = body["components"]["securitySchemes"].values()
    uris = [one["x-amazon-apigateway-authorizer"]["authorizerUri"] for one in authorizers]

    assert "functions/${" in text
    assert "Function.Arn}/invocations" not in text
    for uri in uris:
        [called] = uri["Fn::Sub"][1].values()
        assert _when_deployed(called) == {"Ref": "AuthorizerFunctionAliaslive"}


def _when_deployed(called: dict[str, Any]) -> dict[str, Any]:
    """Return what is called on AWS: `sam local`, which knows no aliases, calls the function."""
    match called:
        case {"Fn::If": ["IsSamLocal", _, deployed]}:
            return dict(deployed)
    return called


@every_function
def test_the_errors_of_a_function_roll_its_deployment_back(
    template: Template, function: str
) -> None:
    group = resources_of_type(template, "AWS::CodeDeploy::DeploymentGroup")[
        f"{function}DeploymentGroup"
    ]
    alarm = f"{function.removesuffix('Function')}ErrorsAlarm"

    assert group["AutoRollbackConfiguration"]["Enabled"]
    assert "DEPLOYMENT_STOP_ON_ALARM" in group["AutoRollbackConfiguration"]["Events"]
    settings = Resolver(template).resolve(_without_refs(group["AlarmConfiguration"]))
    assert settings == {"Enabled": True, "Alarms": [{"Name": alarm}]}


def test_a_fix_can_be_deployed_while_an_alarm_rings(template: Template) -> None:
    """CodeDeploy refuses a deployment with an alarm that rings already."""
    resolver = Resolver(template, {"DeploymentType": "AllAtOnce"})
    for group in resources_of_type(template, "AWS::CodeDeploy::DeploymentGroup").values():
        assert resolver.resolve(_without_refs(group["AlarmConfiguration"])) == {}


def test_codedeploy_has_a_role_of_our_own(template: Template) -> None:
    groups = resources_of_type(template, "AWS::CodeDeploy::DeploymentGroup").values()
    roles = {one["ServiceRoleArn"]["Fn::GetAtt"][0] for one in groups}

    assert roles == {"DeploymentRole", "HttpDeploymentRole"}


@every_function
def test_the_role_of_codedeploy_may_move_the_alias_of_its_functions(
    template: Template, function: str
) -> None:
    groups = resources_of_type(template, "AWS::CodeDeploy::DeploymentGroup")
    role = groups[f"{function}DeploymentGroup"]["ServiceRoleArn"]["Fn::GetAtt"][0]
    [policy] = resources_of_type(template, "AWS::IAM::Role")[role]["Policies"]
    move, watch = policy["PolicyDocument"]["Statement"]

    assert {"Fn::Sub": f"${{{function}.Arn}}:{ALIAS}"} in move["Resource"]
    assert "lambda:UpdateAlias" in move["Action"]
    alarm = f"{function.removesuffix('Function')}ErrorsAlarm"
    assert {"Fn::GetAtt": [alarm, "Arn"]} in watch["Resource"]


# --- what makes a new version -----------------------------------------------------------------


def test_new_code_in_a_layer_publishes_a_version_of_every_function(template: Template) -> None:
    changed = translate(layer_uris={"CoreLayer": "s3://local/other.zip"})

    before, after = _versions(template), _versions(changed)
    assert before.keys() == after.keys() == set(FUNCTIONS)
    assert [name for name in before if before[name] == after[name]] == []


@every_function
def test_a_changed_setting_publishes_a_version(template: Template, function: str) -> None:
    """SAM does not see the value of a parameter, so the description of a version has to change."""
    version = resources_of_type(template, "AWS::Lambda::Version")[_versions(template)[function]]
    own = " ${LiveSettingsVersion}" if function == "LiveFunction" else ""

    assert version["Description"] == {"Fn::Sub": f"Settings ${{SettingsVersion}}{own}"}


def _stored_settings(template: Template) -> set[str]:
    stored = resources_of_type(template, "AWS::AppConfig::HostedConfigurationVersion")
    [separator, values] = stored["SettingsVersion"]["Content"]["Fn::Join"]
    assert separator == "\n"
    return {json.dumps(value, sort_keys=True) for value in values}


def _environment(template: Template, function: str) -> set[str]:
    variables = resources_of_type(template, "AWS::Lambda::Function")[function]["Environment"][
        "Variables"
    ]
    return {
        json.dumps(value, sort_keys=True)
        for name, value in variables.items()
        if isinstance(value, dict) and name != "LIVE_ORIGINS"
    }


@every_function
def test_the_stored_settings_have_every_value_of_the_environment(
    template: Template, function: str
) -> None:
    assert _environment(template, function) - _stored_settings(template) == set()


@every_function
def test_every_stored_setting_is_one_of_every_function(template: Template, function: str) -> None:
    """Lambda refuses to publish a function that has not changed, and the deployment fails."""
    of_all = {json.dumps({"Ref": name}) for name in ("Tracing", "LogGroup")}

    assert _stored_settings(template) - of_all - _environment(template, function) == set()


def test_the_origins_of_the_live_function_are_stored_apart(template: Template) -> None:
    """The HTTP API among them cannot be stored: it refers to versions, which refer to this."""
    stored = resources_of_type(template, "AWS::AppConfig::HostedConfigurationVersion")

    assert '"Ref": "LiveOrigins"' in json.dumps(stored["LiveSettingsVersion"])


# --- environments -----------------------------------------------------------------------------


def test_only_the_development_environment_deploys_all_at_once(template: Template) -> None:
    config = tomllib.loads((ROOT / "samconfig.toml").read_text())
    default = template["Parameters"]["DeploymentType"]["Default"]
    types = {
        name: _override(config[name]["deploy"]["parameters"]) or default
        for name in ("default", "dev", "prod")
    }

    assert types["dev"] == "AllAtOnce"
    assert "AllAtOnce" not in (types["default"], types["prod"])


def _override(parameters: dict[str, str]) -> str | None:
    overrides = dict(one.split("=", 1) for one in parameters.get("parameter_overrides", "").split())
    return overrides.get("DeploymentType")


def _without_refs(value: Any) -> Any:
    """Replace references to alarms by their names, which the resolver does not know."""
    match value:
        case {"Ref": str(name)} if name.endswith("Alarm"):
            return name
        case dict():
            return {key: _without_refs(part) for key, part in value.items()}
        case list():
            return [_without_refs(part) for part in value]
    return value
