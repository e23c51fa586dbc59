"""Clients are the same as with all of botocore's data."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.config import Config
from botocore.exceptions import UnknownServiceError
from botocore.session import Session
from duecourse.adapters.aws.clients import SharedSession
from duecourse.adapters.aws.service_data import SERVICES

REGIONS = ("eu-central-1", "us-east-1", "cn-north-1", "us-gov-west-1", "eu-central-9")


def properties(client: Any) -> Any:
    """Return what the data of endpoints decides: where requests go and how they are signed."""
    operation_name = client.meta.service_model.operation_names[0]
    operation = client.meta.service_model.operation_model(operation_name)
    context: dict[str, Any] = {}
    arguments = {"QueueUrl": "q", "TableName": "t"}
    resolved = client._resolve_endpoint_ruleset(operation, arguments, context)
    signer = client._request_signer
    return (
        resolved,
        context,
        client.meta.region_name,
        client.meta.partition,
        (signer.signature_version, signer.signing_name, signer.region_name),
        client.meta.config.retries,
    )


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "local")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "local")


@pytest.mark.parametrize("has_fips", [False, True])
@pytest.mark.parametrize("has_dualstack", [False, True])
@pytest.mark.parametrize("service", SERVICES)
def test_a_client_has_the_same_endpoint(
    service: str, *, has_dualstack: bool, has_fips: bool
) -> None:
    ours, botocores = SharedSession(), Session()
    config = Config(use_dualstack_endpoint=has_dualstack, use_fips_endpoint=has_fips)
    for region in REGIONS:
        options: dict[str, Any] = {"region_name": region, "config": config}

        client = ours.create_client(service, **options)

        assert properties(client) == properties(botocores.create_client(service, **options))


def test_a_service_that_is_not_listed_is_refused() -> None:
    with pytest.raises(UnknownServiceError):
        SharedSession().create_client("s3", region_name="eu-central-1")
