"""A stack as CloudFormation describes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from botocore.exceptions import ClientError

from local.cli.doctor.aws import make_client
from local.cli.errors import CommandFailedError
from local.stack_resources import StackResources, read_resources


@dataclass(frozen=True, slots=True)
class DeployedStack:
    name: str
    status: str
    created_at: datetime
    outputs: Mapping[str, str]
    parameters: Mapping[str, str]
    resources: StackResources

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
        resources=read_resources(client, name),
    )
