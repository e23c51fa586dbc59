"""What the roles of the template allow: their statements, read from the translated template."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from local.runtime.template import function_id, load_template, resources_of_type
from local.testing.faults import short_name

Permission = tuple[str, str]  # an action and its resource: ("dynamodb:Query", "TasksTable")
_LEADING_KEYS = "dynamodb:LeadingKeys"


@dataclass(frozen=True)
class Statement:
    effect: str
    actions: Sequence[str]
    resources: Sequence[Any]
    condition: dict[str, Any]

    @property
    def permissions(self) -> set[Permission]:
        names = [resource_name(resource) for resource in self.resources]
        return {(action, name) for action in self.actions for name in names}


def role_name(function: str) -> str:
    """Return the logical id of the role that a function, named by its short name, runs with."""
    functions = resources_of_type(load_template(), "AWS::Lambda::Function")
    [role] = [
        properties["Role"]["Fn::GetAtt"][0]
        for name, properties in functions.items()
        if short_name(name) == function
    ]
    return str(role)


def statements_of(role: str) -> list[Statement]:
    """Return the statements of a role, also those that a parameter enables."""
    properties = resources_of_type(load_template(), "AWS::IAM::Role")[role]
    documents = [policy["PolicyDocument"] for policy in properties.get("Policies", ())]
    documents += [
        policy["PolicyDocument"]
        for policy in resources_of_type(load_template(), "AWS::IAM::Policy").values()
        if {"Ref": role} in policy["Roles"]
    ]
    return [_parse(one) for document in documents for one in document["Statement"]]


def allowed_calls(function: str) -> set[Permission]:
    statements = statements_of(role_name(function))
    return {one for each in statements if each.effect == "Allow" for one in each.permissions}


def is_denied(function: str, permission: Permission, leading_keys: Sequence[str]) -> bool:
    """Return whether a statement refuses the request because of a partition key it names."""
    return any(
        permission in statement.permissions and _names_a_key(statement, leading_keys)
        for statement in statements_of(role_name(function))
        if statement.effect == "Deny"
    )


def _names_a_key(statement: Statement, leading_keys: Sequence[str]) -> bool:
    [(operator, keys)] = statement.condition.items()
    if operator != "ForAnyValue:StringLike" or list(keys) != [_LEADING_KEYS]:
        raise ValueError(f"{statement.condition} is not known here")
    patterns = _as_list(keys[_LEADING_KEYS])
    return any(fnmatchcase(key, pattern) for key in leading_keys for pattern in patterns)


def _parse(statement: dict[str, Any]) -> Statement:
    resolved = statement["Fn::If"][1] if "Fn::If" in statement else statement
    return Statement(
        resolved["Effect"],
        _as_list(resolved["Action"]),
        _as_list(resolved["Resource"]),
        resolved.get("Condition", {}),
    )


def resource_name(resource: Any) -> str:
    """Return the name of the resource, such as TasksTable/index/DueIndex."""
    match resource:
        case {"Fn::GetAtt": [name, "Arn"]} | {"Ref": name}:
            return str(name)
        case {"Fn::GetAtt": [name, "StreamArn"]}:
            return f"{name}/stream"
        case {"Fn::Sub": text} if text.endswith("/@connections/*"):
            return f"LiveApi/{text.split('/')[-3]}"
        case {"Fn::Sub": text} if text.endswith(":rule/*"):
            return "rules"
        case {"Fn::Sub": text}:
            return re.sub(r"\$\{(\w+)\.Arn\}", r"\1", text)
        case str():
            return resource
    raise ValueError(f"{resource} is not known here")


def polled_by_lambda(function: str) -> Iterator[Permission]:
    """Yield what Lambda itself does with the function's role: write logs and read event sources."""
    yield "logs:CreateLogStream", "LogGroup"
    yield "logs:PutLogEvents", "LogGroup"
    for source, attribute in _event_sources(function):
        if attribute == "StreamArn":
            yield from ((f"dynamodb:{one}", f"{source}/stream") for one in _STREAM_READS)
            yield "dynamodb:ListStreams", f"{source}/stream/*"
        else:
            yield from ((f"sqs:{one}", source) for one in _QUEUE_READS)


_STREAM_READS = ("DescribeStream", "GetRecords", "GetShardIterator")
_QUEUE_READS = ("ReceiveMessage", "DeleteMessage", "GetQueueAttributes")


def _event_sources(function: str) -> list[tuple[str, str]]:
    mappings = resources_of_type(load_template(), "AWS::Lambda::EventSourceMapping").values()
    return [
        (mapping["EventSourceArn"]["Fn::GetAtt"][0], mapping["EventSourceArn"]["Fn::GetAtt"][1])
        for mapping in mappings
        if short_name(function_id(mapping["FunctionName"])) == function
    ]


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
