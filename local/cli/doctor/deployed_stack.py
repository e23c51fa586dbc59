"""A stack as CloudFormation describes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from botocore.exceptions import ClientError

from local.cli.doctor.aws import make_client
from local.cli.errors import CommandFailedError


@dataclass(frozen=True, slots=True)
class Resource:
    type: str
    physical_id: str


@dataclass(frozen=True, slots=True)
class DeployedStack:
    """`resources` are by their name in the template."""

    name: str
    status: str
    created_at: datetime
    outputs: Mapping[str, str]
    parameters: Mapping[str, str]
    resources: Mapping[str, Resource]

    def of_type(self, resource_type: str) -> dict[str, str]:
        """Return the physical ids of the resources of a type, by their names."""
        return {
            name: resource.physical_id
            for name, resource in self.resources.items()
            if resource.type == resource_type
        }

    def list_parameter(self, name: str) -> list[str]:
        values = (value.strip() for value in self.parameters.get(name, "").split(","))
        return [value for value in values if value]


def read_stack(name: str) -> DeployedStack:
    """Return the stack. Raises CommandFailedError if there is none, and botocore's errors."""
    client = make_client("cloudformation")
    try:
        [found] = client.describe_stacks(StackName=name)["Stacks"]
    except (ClientError, ValueError) as error:
        if isinstance(error, ClientError) and "does not exist" not in str(error):
            raise
        raise CommandFailedError(f"there is no stack {name} in this region and account") from None
    return DeployedStack(
        name=name,
        status=found["StackStatus"],
        created_at=found["CreationTime"],
        outputs={one["OutputKey"]: one["OutputValue"] for one in found.get("Outputs", ())},
        parameters={
            one["ParameterKey"]: one.get("ParameterValue", "")
            for one in found.get("Parameters", ())
        },
        resources=_read_resources(name),
    )


def _read_resources(name: str) -> dict[str, Resource]:
    pages = make_client("cloudformation").get_paginator("list_stack_resources")
    return {
        one["LogicalResourceId"]: Resource(one["ResourceType"], one["PhysicalResourceId"])
        for page in pages.paginate(StackName=name)
        for one in page["StackResourceSummaries"]
        if one.get("PhysicalResourceId")
    }
