"""botocore's data of services and endpoints, without what no client of ours needs.

botocore looks through the folders of all services and parses a list of every endpoint of each, to
create one client: half of the time that this takes. Our services have rules for their endpoints,
which need only the partitions.
"""

from __future__ import annotations

from typing import Any

from botocore.loaders import Loader

SERVICES = (
    "apigatewaymanagementapi",
    "bedrock-runtime",
    "dynamodb",
    "events",
    "lambda",
    "secretsmanager",
    "sns",
    "sqs",
    # For credentials of a profile, if somebody uses this from their own machine.
    "sso",
    "sso-oidc",
    "sts",
)
_ENDPOINTS = "endpoints"
_HOST, _FIPS_HOST = "{service}.{region}.{dnsSuffix}", "{service}-fips.{region}.{dnsSuffix}"


class ServiceData(Loader):
    def list_available_services(self, type_name: str) -> list[str]:
        del type_name
        return [*SERVICES]

    def load_data_with_path(self, name: str) -> Any:
        """Return the data and where it is from; of the endpoints, only what holds for all."""
        if name != _ENDPOINTS:
            return super().load_data_with_path(name)
        data, path = super().load_data_with_path("partitions")
        return {"partitions": [_to_endpoints(one) for one in data["partitions"]]}, path


def _to_endpoints(partition: dict[str, Any]) -> dict[str, Any]:
    outputs = partition["outputs"]
    usual, dualstack = outputs["dnsSuffix"], outputs["dualStackDnsSuffix"]
    variants = [
        {"tags": ["fips"], "hostname": _FIPS_HOST, "dnsSuffix": usual},
        {"tags": ["dualstack"], "hostname": _HOST, "dnsSuffix": dualstack},
        {"tags": ["dualstack", "fips"], "hostname": _FIPS_HOST, "dnsSuffix": dualstack},
    ]
    return {
        "partition": partition["id"],
        "dnsSuffix": usual,
        "regionRegex": partition["regionRegex"],
        "regions": partition["regions"],
        "services": {},
        "defaults": {
            "hostname": _HOST,
            "protocols": ["https"],
            "signatureVersions": ["v4"],
            "variants": variants,
        },
    }
