"""The resources of a deployed stack by type: their names on AWS by logical id."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

TABLE = "AWS::DynamoDB::Table"
SECRET = "AWS::SecretsManager::Secret"  # noqa: S105 - a type
FUNCTION = "AWS::Lambda::Function"
RULE = "AWS::Events::Rule"
MAPPING = "AWS::Lambda::EventSourceMapping"
QUEUE = "AWS::SQS::Queue"
ALARM = "AWS::CloudWatch::Alarm"


@dataclass(frozen=True)
class StackResources:
    names: Mapping[str, Mapping[str, str]]

    def of_type(self, kind: str) -> Mapping[str, str]:
        """Return the names on AWS of the resources of a type, by logical id."""
        return self.names.get(kind, {})


def read_resources(client: Any, stack: str) -> StackResources:
    """Return the resources of a stack, also of one that was deleted, if `stack` is its id."""
    pages = client.get_paginator("list_stack_resources").paginate(StackName=stack)
    return parse_summaries(one for page in pages for one in page["StackResourceSummaries"])


def parse_summaries(summaries: Iterable[Mapping[str, str]]) -> StackResources:
    names: dict[str, dict[str, str]] = {}
    for one in summaries:
        if name := one.get("PhysicalResourceId"):
            names.setdefault(one["ResourceType"], {})[one["LogicalResourceId"]] = name
    return StackResources(names)
