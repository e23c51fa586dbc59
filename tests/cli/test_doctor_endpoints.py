"""`duecourse doctor` on AWS without credentials, or at an endpoint that is not AWS."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import boto3
import pytest

from local.runtime.aws_gateway import AwsGateway
from local.runtime.aws_server import AwsServer
from tests.cli.command_client import CommandClient
from tests.support.query_api import serve_query_api

ON_AWS = (("--preflight",), ("--next-steps",), ("--stack", "duecourse"))
CREDENTIALS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE")


@pytest.fixture(autouse=True)
def region(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    monkeypatch.setenv("AWS_REGION", "eu-central-1")


@pytest.fixture
def no_credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in CREDENTIALS:
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in CREDENTIALS[:2]:
        monkeypatch.setenv(name, "x")


@pytest.fixture
def local_endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Serve the local stack's AWS port, which refuses other services before it asks the stack."""
    gateway = AwsGateway(cast(Any, None), cast(Any, None))
    with AwsServer(gateway, "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.01], daemon=True)
        thread.start()
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
        yield server.url
        server.shutdown()
        thread.join(5)


@pytest.mark.usefixtures("no_credentials")
@pytest.mark.parametrize("arguments", ON_AWS, ids=" ".join)
def test_missing_credentials_are_named(
    duecourse: CommandClient, arguments: tuple[str, ...]
) -> None:
    result = duecourse("doctor", *arguments)

    assert result.code == 1
    assert "no AWS credentials found" in result.out + result.err
    assert "internal error" not in result.err


@pytest.mark.usefixtures("credentials", "local_endpoint")
@pytest.mark.parametrize("arguments", ON_AWS, ids=" ".join)
def test_the_aws_port_of_a_local_stack_is_recognised(
    duecourse: CommandClient, arguments: tuple[str, ...]
) -> None:
    result = duecourse("doctor", *arguments)

    assert result.code == 1
    assert "is a local stack: run `duecourse doctor`" in result.out + result.err
    assert "internal error" not in result.err


@pytest.mark.usefixtures("credentials")
def test_a_refused_request_for_the_next_steps_is_named(
    duecourse: CommandClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve_query_api() as api:
        api.error = ("AccessDenied", "not allowed")
        monkeypatch.setenv("AWS_ENDPOINT_URL", api.url)
        result = duecourse("doctor", "--next-steps")

    assert result.code == 1
    assert "AccessDenied" in result.err
    assert "internal error" not in result.err
