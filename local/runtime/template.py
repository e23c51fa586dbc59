"""Load template.yaml as CloudFormation would see it, through SAM's own translator."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
REGION = "eu-central-1"
ACCOUNT = "123456789012"
ALIAS = "live"  # of every function; the template's AutoPublishAlias
Resources = dict[str, dict[str, Any]]
_STUBBED_TYPES = (
    "AWS::ApiGatewayV2::Api",
    "AWS::SNS::Topic",
)  # only their names are needed
_NO_VALUE = object()  # CloudFormation leaves out what resolves to it


@cache
def load_template(path: Path = ROOT / "template.yaml") -> dict[str, Any]:
    """Return the translated template.

    It is cached, because loading the translator takes a second.
    """
    return translate(path)


def translate(
    path: Path = ROOT / "template.yaml",
    layer_uris: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return the template with its code uploaded, of layers to `layer_uris` if they are there."""
    import boto3
    from samtranslator.parser.parser import Parser
    from samtranslator.translator.translator import Translator
    from samtranslator.yaml_helper import yaml_parse

    source = _replace_code_uris(yaml_parse(path.read_text()), layer_uris)
    session = boto3.Session(region_name=REGION)
    translator = Translator(_ManagedPolicies(), Parser(), boto_session=session)
    result: dict[str, Any] = translator.translate(source, parameter_values={})
    return result


class _ManagedPolicies(dict[str, str]):
    """Accept any name of a managed policy without looking it up."""

    def __contains__(self, name: object) -> bool:
        return True

    def get(self, name: str, default: Any = None) -> Any:  # noqa: ARG002 - dict's own signature
        return f"arn:aws:iam::aws:policy/service-role/{name}"

    def __getitem__(self, name: str) -> str:
        return str(self.get(name))


def _replace_code_uris(source: dict[str, Any], layer_uris: Mapping[str, str]) -> dict[str, Any]:
    """Replace code folders by an S3 URI, which the translator requires."""
    uploaded = "s3://local/code.zip"
    source["Globals"]["Function"]["CodeUri"] = uploaded
    for name, resource in source["Resources"].items():
        if resource["Type"] == "AWS::Serverless::LayerVersion":
            resource["Properties"]["ContentUri"] = layer_uris.get(name, uploaded)
    return source


def resources_of_type(template: dict[str, Any], resource_type: str) -> Resources:
    return {
        name: resource["Properties"]
        for name, resource in template["Resources"].items()
        if resource["Type"] == resource_type
    }


def function_id(reference: Any) -> str:
    """Return the logical id of the function that a Ref, a GetAtt or a name in a Sub stands for.

    Everything that calls a function calls its alias, whose name SAM makes from the function's.
    """
    match reference:
        case {"Ref": str(name)} | {"Fn::GetAtt": [str(name), "Arn"]} | str(name):
            return name.removesuffix(f"Alias{ALIAS}")
        case {"Fn::If": [_, _, deployed]}:  # `sam local` knows no aliases
            return function_id(deployed)
    raise ValueError(f"{reference} is not a function")


class Resolver:
    """Resolves Ref, GetAtt, Sub, Join and If to the names of the local resources.

    `parameters` are set instead of their defaults.
    """

    def __init__(
        self, template: dict[str, Any], parameters: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self._conditions = template.get("Conditions", {})
        self._values: dict[str, Any] = {
            name: parameters.get(name, parameter.get("Default"))
            for name, parameter in template.get("Parameters", {}).items()
        }
        self._values |= {"AWS::Region": REGION, "AWS::AccountId": ACCOUNT, "AWS::Partition": "aws"}
        self._values |= {"AWS::StackName": "duecourse", "AWS::URLSuffix": "amazonaws.com"}
        self._values["AWS::NoValue"] = _NO_VALUE
        for kind in _STUBBED_TYPES:
            self._values |= dict.fromkeys(resources_of_type(template, kind), "local")

    def register(self, name: str, ref: str, **attributes: str) -> None:
        self._values[name] = ref
        self._values |= {f"{name}.{attribute}": value for attribute, value in attributes.items()}

    def resolve(self, value: Any) -> Any:
        match value:
            case {"Ref": name}:
                return self._values[name]
            case {"Fn::GetAtt": [name, attribute]}:
                return self._values[f"{name}.{attribute}"]
            case {"Fn::Sub": str(text)}:
                return self._substitute(text, {})
            case {"Fn::Sub": [str(text), dict(variables)]}:
                return self._substitute(text, variables)
            case {"Fn::If": [name, if_true, if_false]}:
                return self.resolve(if_true if self._holds(self._conditions[name]) else if_false)
            case {"Fn::Join": [separator, {"Ref": name}]}:
                # The default of a list parameter is a string with commas.
                return str(separator).join(str(self._values[name]).split(","))
            case dict() | list():
                return self._resolve_parts(value)
            case _:
                return value

    def _resolve_parts(self, value: dict[str, Any] | list[Any]) -> dict[str, Any] | list[Any]:
        if isinstance(value, list):
            return [part for part in map(self.resolve, value) if part is not _NO_VALUE]
        resolved = {key: self.resolve(part) for key, part in value.items()}
        return {key: part for key, part in resolved.items() if part is not _NO_VALUE}

    def _substitute(self, text: str, variables: dict[str, Any]) -> str:
        own = {name: self.resolve(one) for name, one in variables.items()}
        values = {**self._values, **own}
        return re.sub(r"\$\{([^}]+)\}", lambda match: str(values[match[1]]), text)

    def _holds(self, condition: dict[str, Any]) -> bool:
        match condition:
            case {"Fn::And": parts}:
                return all(map(self._holds, parts))
            case {"Fn::Not": [part]}:
                return not self._holds(part)
            case {"Fn::Equals": [left, right]}:
                return str(self.resolve(left)) == str(self.resolve(right))
        raise ValueError(f"unsupported condition: {condition}")
