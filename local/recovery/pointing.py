"""Make templates that point a stack at other tables, and then let it own them."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from local.recovery.restore import RestoredTable
from local.stack_resources import TABLE

_AT_ONCE = "CodeDeployDefault.LambdaAllAtOnce"


def point_at(template: dict[str, Any], tables: Mapping[str, RestoredTable]) -> dict[str, Any]:
    """Return the template without its own `tables`, whose users refer to the restored ones.

    The aliases move at once: old and new versions would work on different tables.
    """
    pointed = {**template, "Resources": _without(template["Resources"], tables)}
    for resource in pointed["Resources"].values():
        if resource["Type"] == "AWS::CodeDeploy::DeploymentGroup":
            resource["Properties"]["DeploymentConfigName"] = _AT_ONCE
    replaced: dict[str, Any] = _replace(pointed, tables)
    return replaced


def adopt(
    template: dict[str, Any], tables: Mapping[str, RestoredTable]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the pointed template with the tables in it again, and what has to be imported.

    An import may change nothing else, so all others keep referring to the names.
    """
    adopted = point_at(template, tables)
    adopted["Resources"] |= {name: deepcopy(template["Resources"][name]) for name in tables}
    imports = [
        {
            "ResourceType": TABLE,
            "LogicalResourceId": name,
            "ResourceIdentifier": {"TableName": table.name},
        }
        for name, table in tables.items()
    ]
    return adopted, imports


def _without(resources: Mapping[str, Any], names: Mapping[str, Any]) -> dict[str, Any]:
    return {name: deepcopy(one) for name, one in resources.items() if name not in names}


def _replace(value: Any, tables: Mapping[str, RestoredTable]) -> Any:
    match value:
        case {"Ref": str(name)} if name in tables:
            return tables[name].name
        case {"Fn::GetAtt": [str(name), str(attribute)]} if name in tables:
            return _attribute(tables[name], attribute)
        case {"Fn::Sub": str(text)}:
            return {"Fn::Sub": _substitute(text, tables)}
        case dict():
            return {key: _replace(part, tables) for key, part in value.items()}
        case list():
            return [_replace(part, tables) for part in value]
    return value


def _substitute(text: str, tables: Mapping[str, RestoredTable]) -> str:
    for name, table in tables.items():
        text = text.replace(f"${{{name}}}", table.name).replace(f"${{{name}.Arn}}", table.arn)
    return text


def _attribute(table: RestoredTable, attribute: str) -> str:
    found = {"Arn": table.arn, "StreamArn": table.stream_arn}[attribute]
    if found is None:
        raise ValueError(f"{table.name} has no stream")
    return found
