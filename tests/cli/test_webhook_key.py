"""`duecourse webhook-key`: prints what a receiver verifies our webhooks by."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import boto3
import pytest
from duecourse.domain.http.signature import derive_host_key, format_key
from moto import mock_aws

from local.runtime.resources import SIGNING_KEY
from tests.cli.command_client import CommandClient

REGION = "eu-west-3"  # another than the operator's own
OLD, NEW = (base64.b64encode(bytes([number]) * 33).decode() for number in (1, 2))
HOST = "ci.example.com"
ARN_OF_NOTHING = f"arn:aws:secretsmanager:{REGION}:123456789012:secret:nothing-AbCdEf"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> CommandClient:
    return CommandClient(capsys)


@pytest.fixture
def secrets() -> Iterator[Any]:
    credentials = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"}
    settings = {**credentials, "AWS_DEFAULT_REGION": "eu-central-1"}
    with patch.dict("os.environ", settings), mock_aws():
        yield boto3.client("secretsmanager", region_name=REGION)


def key_of(secret: str) -> str:
    return format_key(derive_host_key(secret, HOST))


def put(secrets: Any, content: str) -> str:
    return str(secrets.create_secret(Name="signing", SecretString=content)["ARN"])


@pytest.mark.parametrize("host", [HOST, "CI.Example.com", f"{HOST}.", f"{HOST}:8443"])
def test_the_key_of_a_host_is_printed(run: CommandClient, host: str) -> None:
    result = run("webhook-key", host)
    assert (result.code, result.out) == (0, f"{key_of(SIGNING_KEY)}\n")


def test_the_key_is_derived_from_the_secret_of_a_deployed_stack(
    run: CommandClient, secrets: Any
) -> None:
    arn = put(secrets, json.dumps({"webhook_signing": OLD}))
    assert run("webhook-key", HOST, "--secret", arn).out == f"{key_of(OLD)}\n"


def test_during_a_rotation_the_newest_key_is_printed_and_json_has_both(
    run: CommandClient, secrets: Any
) -> None:
    arn = put(secrets, json.dumps({"webhook_signing": [NEW, OLD]}))
    assert run("webhook-key", HOST, "--secret", arn).out == f"{key_of(NEW)}\n"
    shown = run("webhook-key", HOST, "--secret", arn, "--json").json
    assert shown == {"host": HOST, "keys": [key_of(NEW), key_of(OLD)]}


@pytest.mark.parametrize(
    "host", ["", "a b", "user@example.com", "https://example.com/", "ü.example"]
)
def test_an_invalid_host_is_an_error(run: CommandClient, host: str) -> None:
    result = run("webhook-key", host)
    assert (result.code, result.out) == (2, "")
    assert result.err.count("\n") == 1


@pytest.mark.parametrize(
    "content", ["", OLD, "{}", "[]", '{"webhook_signing": 7}', '{"webhook_signing": "c2hvcnQ="}']
)
def test_an_unusable_secret_is_an_error_that_does_not_repeat_it(
    run: CommandClient, secrets: Any, content: str
) -> None:
    arn = put(secrets, content or " ")
    result = run("webhook-key", HOST, "--secret", arn)
    assert (result.code, result.out) == (1, "")
    assert OLD not in result.err
    assert "c2hvcnQ=" not in result.err


@pytest.mark.usefixtures("secrets")
def test_a_missing_secret_is_an_error(run: CommandClient) -> None:
    result = run("webhook-key", HOST, "--secret", ARN_OF_NOTHING)
    assert result.code == 1
    assert "ResourceNotFoundException" in result.err
